"""A registry of npm on loopback with the packages of a release, which notes what it is asked for."""

import base64
import contextlib
import hashlib
import http.server
import json
import tarfile
import threading
import urllib.parse


class Registry:
    def __init__(self, tarballs):
        self.asked = []
        self._files = {}  # by the path of the request
        self._manifests = {}  # by name
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        for tarball in tarballs:
            self._add(tarball)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _add(self, tarball):
        data = tarball.read_bytes()
        with tarfile.open(tarball) as files:
            manifest = json.load(files.extractfile("package/package.json"))
        self._files[f"/{tarball.name}"] = data
        digest = base64.b64encode(hashlib.sha512(data).digest()).decode()
        manifest["dist"] = {"tarball": self.url + tarball.name, "integrity": f"sha512-{digest}"}
        self._manifests[manifest["name"]] = manifest

    def _answer(self, path):
        if path in self._files:
            return self._files[path]
        manifest = self._manifests.get(urllib.parse.unquote(path).lstrip("/"))
        if manifest is None:
            return None
        version = manifest["version"]
        whole = {"name": manifest["name"], "dist-tags": {"latest": version}, "versions": {version: manifest}}
        return json.dumps(whole).encode()

    def _handler(self):
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                registry.asked.append(self.path)
                body = registry._answer(self.path)
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body or b"")

            def log_message(self, *_):
                pass

        return Handler
