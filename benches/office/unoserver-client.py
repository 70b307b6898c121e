"""unoserver with one LibreOffice, asked over its own protocol by one client that keeps running."""

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

from unoserver.client import UnoClient


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def start(folder):
    port = free_port()
    server = os.path.join(os.path.dirname(sys.executable), "unoserver")
    arguments = ["--port", port, "--uno-port", free_port(), "--user-installation", folder, "--quiet"]
    process = subprocess.Popen([server, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return process, UnoClient(server="127.0.0.1", port=port, host_location="local")


def main():
    with tempfile.TemporaryDirectory() as folder:
        process, client = start(folder)
        started = False
        for line in sys.stdin:
            order = json.loads(line)
            content = base64.b64decode(order["file"])
            try:
                for _ in range(order["documents"]):
                    made = None
                    while made is None:
                        try:
                            made = client.convert(indata=content, convert_to="pdf")
                        except OSError:
                            if started or process.poll() is not None:
                                raise
                            time.sleep(0.2)
                    started = True
                answer = {"file": base64.b64encode(made).decode()}
            except Exception as error:  # whatever it is, the benchmark prints it
                answer = {"error": repr(error)}
            print(json.dumps(answer), flush=True)
        process.send_signal(signal.SIGTERM)
        process.wait()


main()
