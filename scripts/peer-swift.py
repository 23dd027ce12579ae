# SPDX-License-Identifier: Apache-2.0
# OpenStack Swift, of Debian's python3-swift, in one process: peer-swift.py FOLDER PORT
# Its proxy, account, container and object servers keep all in FOLDER, in one replica. The account
# is AUTH_test, of test:tester with the key testsecret, over S3 and by tokens of /auth/v1.0.
import os
import sys

import eventlet
from eventlet import wsgi as server

from swift.common import utils

utils.eventlet_monkey_patch()

from swift.common import wsgi
from swift.common.ring import RingBuilder

folder, port = sys.argv[1], int(sys.argv[2])

STORAGE = """
[DEFAULT]
swift_dir = {folder}
devices = {folder}
mount_check = false
fallocate_reserve = 0
disable_fallocate = true
log_level = CRITICAL
node_timeout = 60
conn_timeout = 60
container_update_timeout = 60
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""

# A busy machine is no reason to give up a server, and there is no other one.
PROXY = """
[DEFAULT]
swift_dir = {folder}
log_level = CRITICAL
[pipeline:main]
pipeline = cache s3api tempauth bulk slo proxy-server
[filter:cache]
paste.filter_factory = __main__:cache
[filter:s3api]
use = egg:swift#s3api
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testsecret .admin
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
node_timeout = 60
conn_timeout = 60
error_suppression_limit = 1000000
"""


class Cache:
    """What memcached is to Swift: it has the tokens."""

    def __init__(self):
        self.values = {}

    def get(self, key, **_):
        return self.values.get(key)

    def set(self, key, value, **_):
        self.values[key] = value

    def delete(self, key, **_):
        self.values.pop(key, None)

    def incr(self, key, delta=1, **_):
        self.values[key] = max(0, self.values.get(key, 0) + delta)
        return self.values[key]

    def decr(self, key, delta=1, **_):
        return self.incr(key, -delta)


def cache(global_conf, **conf):
    values = Cache()

    def with_cache(app):
        def answer(environ, start_response):
            environ["swift.cache"] = values
            return app(environ, start_response)

        return answer

    return with_cache


def write(name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as out:
        out.write(text)
    return path


def serve(sock, path):
    app = wsgi.loadapp(path, global_conf={"log_name": os.path.basename(path)})
    # As Swift's own start does: a client of S3 looks for "ETag".
    return eventlet.spawn(
        server.server, sock, app, log_output=False, protocol=wsgi.SwiftHttpProtocol,
        capitalize_response_headers=False, max_size=1024)


write("swift.conf", "[swift-hash]\nswift_hash_path_suffix = utter\n")
utils.set_swift_dir(folder)
os.makedirs(os.path.join(folder, "disk"), exist_ok=True)
for kind in ["account", "container", "object"]:
    sock = eventlet.listen(("127.0.0.1", 0))
    ring = RingBuilder(part_power=2, replicas=1, min_part_hours=0)
    ring.add_dev({
        "id": 0, "region": 1, "zone": 1, "weight": 1, "device": "disk",
        "ip": "127.0.0.1", "port": sock.getsockname()[1],
    })
    ring.rebalance()
    ring.get_ring().save(os.path.join(folder, kind + ".ring.gz"))
    serve(sock, write(kind + ".conf", STORAGE.format(folder=folder, kind=kind)))
main = eventlet.listen(("127.0.0.1", port), reuse_addr=True)
serve(main, write("proxy.conf", PROXY.format(folder=folder))).wait()
