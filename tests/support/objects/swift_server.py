"""OpenStack Swift with its S3 interface, all of its parts in this process: a store that is no work of ours.

swift_server.py FOLDER BUCKET ACCESS_KEY SECRET_KEY keeps its objects in FOLDER, makes BUCKET, prints its address and serves
until its standard input ends.
"""

import os
import sys
import warnings

warnings.simplefilter("ignore")
import eventlet

eventlet.monkey_patch()

from eventlet import wsgi
from swift.common import utils
from swift.common.ring import RingBuilder
from swift.common.swob import Request
from swift.common.wsgi import loadapp

folder, bucket, access_key, secret_key = sys.argv[1:5]
PARTS = ("account", "container", "object")
# The interface takes keys of the form account:user.
account, user = access_key.split(":")
FILTERS = ["catch_errors", "gatekeeper", "listing_formats", "bulk", "s3api", "tempauth", "copy", "slo", "dlo"]
SETTINGS = {
    "s3api": "location = us-east-1",
    "tempauth": f"user_{account}_{user} = {secret_key} .admin",
}


def front():
    filters = [f"[filter:{name}]\nuse = egg:swift#{name}\n{SETTINGS.get(name, '')}\n" for name in FILTERS]
    pipeline = f"[pipeline:main]\npipeline = {' '.join(FILTERS)} proxy-server\n"
    app = "[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\n"
    return f"[DEFAULT]\nswift_dir = {folder}\n" + pipeline + "".join(filters) + app


def behind(part):
    default = f"[DEFAULT]\ndevices = {folder}/devices\nmount_check = false\nswift_dir = {folder}\n"
    return default + f"[pipeline:main]\npipeline = {part}-server\n[app:{part}-server]\nuse = egg:swift#{part}\n"


def load(name, settings):
    path = f"{folder}/{name}.conf"
    with open(path, "w") as file:
        file.write(settings)
    return loadapp(path, global_conf={"log_level": "ERROR"})


def listen():
    return eventlet.listen(("127.0.0.1", 0), backlog=1024)


def serve(socket, app):
    with open(os.devnull, "w") as nowhere:
        wsgi.server(socket, app, log=nowhere, socket_timeout=60, max_size=256)


os.makedirs(f"{folder}/devices/disk/tmp", exist_ok=True)
utils.HASH_PATH_PREFIX = utils.HASH_PATH_SUFFIX = b"platen"
sockets = {part: listen() for part in PARTS}
for part, socket in sockets.items():
    ip, port = socket.getsockname()
    ring = RingBuilder(2, 1, 0)
    ring.add_dev({"id": 0, "region": 1, "zone": 1, "weight": 1, "ip": ip, "port": port, "device": "disk"})
    ring.rebalance()
    ring.get_ring().save(f"{folder}/{part}.ring.gz")
for part, socket in sockets.items():
    eventlet.spawn(serve, socket, load(part, behind(part)))
app = load("proxy", front())
allowed = {"swift.authorize": lambda request: None, "swift.authorize_override": True}
made = Request.blank(f"/v1/AUTH_{account}/{bucket}", method="PUT", environ=allowed).get_response(app)
if made.status_int not in (201, 202):
    sys.exit(f"the bucket was not made: {made.status} {made.body}")
socket = listen()
eventlet.spawn(serve, socket, app)
print("http://127.0.0.1:%d" % socket.getsockname()[1], flush=True)
# Reading would block all parts.
eventlet.hubs.trampoline(sys.stdin, read=True)
