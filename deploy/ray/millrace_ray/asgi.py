"""Forwards HTTP and WebSockets to the daemon without looking into their bodies, as an ASGI application."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import aiohttp
import yarl

# They are between two neighbours, who each write their own (RFC 9110, 7.6.1).
_HOP_BY_HOP = {b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te", b"trailer",
               b"transfer-encoding", b"upgrade"}
# Less than the 75 s after which the daemon closes a connection that is idle.
_IDLE_SECONDS = 60
_NO_DAEMON = b"the daemon of this replica does not answer\n"

Headers = list[tuple[bytes, bytes]]


def end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Those that are meant for the other end, without those that `Connection` names."""
    headers = [(name.lower(), value) for name, value in headers]
    named = {option.strip().lower() for name, value in headers if name == b"connection" for option in value.split(b",")}
    return [(name, value) for name, value in headers if name not in _HOP_BY_HOP | named]


class HttpForwarder:
    """An ASGI application in front of the HTTP port of a daemon on this machine."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._session: aiohttp.ClientSession | None = None   # belongs to the loop of the first request

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        match scope["type"]:
            case "http":
                await self._http(scope, receive, send)
            case "websocket":
                await self._websocket(scope, receive, send)
            case "lifespan":
                await self._lifespan(receive, send)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS)
            # The daemon and the client have their limits of time; answers stay as they were compressed.
            self._session = aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None), auto_decompress=False,
                                                  cookie_jar=aiohttp.DummyCookieJar(),
                                                  skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"))
        return self._session

    def _url(self, scheme: str, scope: dict[str, Any]) -> yarl.URL:
        path = scope.get("raw_path") or scope["path"].encode()
        path = path.removeprefix(scope.get("root_path", "").encode()) or b"/"
        query = b"?" + scope["query_string"] if scope.get("query_string") else b""
        return yarl.URL(f"{scheme}://127.0.0.1:{self._port}{(path + query).decode('latin-1')}", encoded=True)

    async def _http(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        headers = end_to_end(scope["headers"])
        names = {name for name, _ in scope["headers"]}
        has_body = b"content-length" in names or b"transfer-encoding" in names
        started = False
        try:
            async with self._client().request(scope["method"], self._url("http", scope), headers=_text(headers), allow_redirects=False,
                                              data=_body(receive) if has_body else None) as answer:
                await send({"type": "http.response.start", "status": answer.status, "headers": end_to_end(answer.raw_headers)})
                started = True
                async for chunk in answer.content.iter_any():
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                await send({"type": "http.response.body"})
        except _ClientGone:
            pass
        except aiohttp.ClientError:
            if started:   # an end would have a part of an answer look whole
                raise
            await send({"type": "http.response.start", "status": 503, "headers": [(b"content-type", b"text/plain"), (b"retry-after", b"1")]})
            await send({"type": "http.response.body", "body": _NO_DAEMON})

    async def _websocket(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        await receive()   # websocket.connect
        headers = [(name, value) for name, value in end_to_end(scope["headers"]) if not name.startswith(b"sec-websocket-")]
        try:
            upstream = await self._client().ws_connect(self._url("ws", scope), headers=_text(headers), protocols=scope.get("subprotocols", ()),
                                                       max_msg_size=0, autoping=True)
        except aiohttp.ClientError:   # also an answer other than 101, such as 401
            await send({"type": "websocket.close", "code": 1011})
            return
        await send({"type": "websocket.accept", "subprotocol": upstream.protocol})
        async with upstream:
            to_daemon = asyncio.create_task(_to_daemon(receive, upstream))
            to_client = asyncio.create_task(_to_client(upstream, send))
            try:
                await asyncio.wait((to_daemon, to_client), return_when=asyncio.FIRST_COMPLETED)
                if to_client.done():
                    to_client.result()
                else:   # the client has closed it; what is still read would stand in the way of the closing
                    to_client.cancel()
                    await asyncio.wait((to_client,))
                    await upstream.close(code=to_daemon.result())
            finally:
                to_daemon.cancel()
                to_client.cancel()

    async def _lifespan(self, receive: Any, send: Any) -> None:
        while True:
            event = (await receive())["type"]
            if event == "lifespan.shutdown":
                await self.close()
            await send({"type": f"{event}.complete"})
            if event == "lifespan.shutdown":
                return


class _ClientGone(Exception):
    """The client went away in the middle of its request."""


async def _body(receive: Any) -> AsyncIterator[bytes]:
    more = True
    while more:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise _ClientGone
        more = event.get("more_body", False)
        yield event.get("body", b"")


async def _to_daemon(receive: Any, upstream: aiohttp.ClientWebSocketResponse) -> int:
    """Until the client closes the socket; the code with which it does."""
    while True:
        event = await receive()
        if event["type"] == "websocket.disconnect":
            code = event.get("code")
            return 1000 if code in (None, 1005, 1006) else code   # those two say that none was sent, and may not be sent
        if event.get("text") is not None:
            await upstream.send_str(event["text"])
        else:
            await upstream.send_bytes(event["bytes"])


async def _to_client(upstream: aiohttp.ClientWebSocketResponse, send: Any) -> None:
    async for message in upstream:
        if message.type is aiohttp.WSMsgType.TEXT:
            await send({"type": "websocket.send", "text": message.data})
        elif message.type is aiohttp.WSMsgType.BINARY:
            await send({"type": "websocket.send", "bytes": message.data})
    code = upstream.close_code
    await send({"type": "websocket.close", "code": {None: 1011, 1005: 1000, 1006: 1011}.get(code, code)})


def _text(headers: Headers) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
