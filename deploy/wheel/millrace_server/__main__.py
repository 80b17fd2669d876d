from millrace_server import main

main()
