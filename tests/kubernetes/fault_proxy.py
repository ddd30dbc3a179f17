"""A proxy between an operator and the real API server, which adds network faults."""

import asyncio
import json
import random
import re
import threading


class NetworkFaults:
    """What happens to requests."""

    def __init__(self, cut=False, refused=(), part=0.5, delay=(0, 0), loses_answers=False, ages_watches=False):
        self.cut = cut  # "reset": connections end at once; "silent": no answer ever comes
        self.refused = refused  # answered with one of these status codes, without having been forwarded
        self.part = part  # of requests, to which all this happens but `cut`
        self.delay = delay  # seconds, from and to, before they are forwarded
        self.loses_answers = loses_answers  # forwarded, and then cut
        self.ages_watches = ages_watches  # watches end with an ERROR event 410 in a stream that began well


NO_FAULTS = NetworkFaults()


def is_watch(head):
    return b"watch=1" in head.split(b"\r\n", 1)[0] or b"watch=true" in head.split(b"\r\n", 1)[0]


class Proxy:
    """Speaks plain HTTP, one request a connection, and has the operator's certificate. Its methods are thread-safe."""

    def __init__(self, api, seed):
        self.api = api  # with the trust and the certificate of the user `operator`
        self.random = random.Random(seed)
        self.faults = NO_FAULTS
        self.open = set()  # (task, is_watch)
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        threading.Thread(target=self.run, args=(ready,), daemon=True).start()
        ready.wait()

    def run(self, ready):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self.serve, "127.0.0.1", 0, limit=1 << 22))
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self.loop.run_forever()

    def set(self, faults):
        self.faults = faults
        if faults.cut:
            self.cut()

    def cut(self, only_watches=False):
        """Ends what is open now."""
        def cancel():
            for task, watches in list(self.open):
                if watches or not only_watches:
                    task.cancel()
        self.loop.call_soon_threadsafe(cancel)

    def kubeconfig(self, path):
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "proxy",
            "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": "none"}}],
            "clusters": [{"name": "proxy", "cluster": {"server": f"http://127.0.0.1:{self.port}"}}],
            "users": [{"name": "none", "user": {}}]}))
        return path

    async def serve(self, reader, writer):
        entry = None
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            entry = (asyncio.current_task(), is_watch(head))
            self.open.add(entry)
            length = re.search(rb"(?i)content-length: *(\d+)", head)
            body = await reader.readexactly(int(length[1])) if length else b""
            await self.answer(reader, writer, head, body)
        except (asyncio.IncompleteReadError, OSError, asyncio.CancelledError):
            pass  # the client or the server has gone, or a fault cut it
        finally:
            self.open.discard(entry)
            writer.transport.abort() if self.faults.cut else writer.close()

    async def answer(self, reader, writer, head, body):
        faults = self.faults
        if faults.cut == "reset":
            return
        if faults.cut == "silent":
            while self.faults is faults:
                await asyncio.sleep(0.1)
            return
        is_hit = faults is not NO_FAULTS and self.random.random() < faults.part
        if is_hit and faults.delay[1]:
            await asyncio.sleep(self.random.uniform(*faults.delay))
            if reader.at_eof():
                return  # no client waits for it any more
        if is_hit and faults.refused:
            status = self.random.choice(faults.refused)
            if status != 410 or head.startswith(b"GET"):
                return self.refuse(writer, status)
        upstream, sink = await asyncio.open_connection(self.api.host, self.api.port, ssl=self.api.trust)
        try:
            sink.write(re.sub(rb"(?i)\r\nconnection: [^\r]*", b"", head[:-2]) + b"Connection: close\r\n\r\n" + body)
            await sink.drain()
            if is_hit and faults.loses_answers:
                await upstream.read(1)
                return
            if is_hit and faults.ages_watches and is_watch(head):
                return self.age(writer)
            await self.pass_on(upstream, reader, writer)
        finally:
            sink.transport.abort()

    @staticmethod
    async def pass_on(upstream, reader, writer):
        gone = asyncio.ensure_future(reader.read(1))  # an operator says no more on this connection
        try:
            while True:
                more = asyncio.ensure_future(upstream.read(1 << 16))
                await asyncio.wait({more, gone}, return_when=asyncio.FIRST_COMPLETED)
                if not more.done() or not more.result():
                    more.cancel()
                    return
                writer.write(more.result())
                await writer.drain()
        finally:
            gone.cancel()

    @staticmethod
    def status(code):
        reason = {409: "Conflict", 410: "Expired", 429: "TooManyRequests", 500: "InternalError"}[code]
        return json.dumps({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code,
                           "reason": reason, "message": "by a test"}).encode()

    def refuse(self, writer, code):
        later = b"Retry-After: 1\r\n" if code == 429 else b""
        status = self.status(code)
        writer.write(b"HTTP/1.1 %d no\r\nContent-Type: application/json\r\n%sConnection: close\r\n"
                     b"Content-Length: %d\r\n\r\n%s" % (code, later, len(status), status))

    def age(self, writer):
        line = b'{"type": "ERROR", "object": %s}\n' % self.status(410)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
                     b"Content-Length: %d\r\n\r\n%s" % (len(line), line))
