# SPDX-License-Identifier: Apache-2.0
# A tus server of another hand (resumable-upload): peer-resumable-upload.py FOLDER PORT
# The bytes of an upload are in FOLDER/files, below its name; FOLDER/log has a line for each answer.
import sys
from http.server import ThreadingHTTPServer

from resumable_upload import SQLiteStorage, TusHTTPRequestHandler, TusServer

folder, port = sys.argv[1], int(sys.argv[2])


class Handler(TusHTTPRequestHandler):
    tus_server = TusServer(
        storage=SQLiteStorage(db_path=folder + "/uploads.db", upload_dir=folder + "/files"), base_path="/files")

    def log_request(self, code="-", size="-"):
        with open(folder + "/log", "a") as out:
            heads = {k: v for k, v in self.headers.items() if k[:6].lower() in ("upload", "conten", "transf")}
            print(self.command, self.path, heads, code, file=out)


ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
