// Speaks a text over HTTP and writes it to a file while it is made.
// Usage: go run speak.go [URL of the server]
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	server := "http://localhost:8000"
	if len(os.Args) > 1 {
		server = os.Args[1]
	}
	body, err := json.Marshal(map[string]any{
		"model": "tts-1", "voice": "joe", "input": "Good morning from Go.", "response_format": "wav",
	})
	if err != nil {
		log.Fatal(err)
	}
	response, err := http.Post(server+"/v1/audio/speech", "application/json", bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		message, _ := io.ReadAll(response.Body)
		log.Fatalf("%s: %s", response.Status, message)
	}
	file, err := os.Create("go.wav")
	if err != nil {
		log.Fatal(err)
	}
	written, err := io.Copy(file, response.Body)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("go.wav: %d bytes\n", written)
}
