# SPDX-License-Identifier: Apache-2.0
# A tus server of another hand (tuspyserver): peer-tuspyserver.py FOLDER PORT
# The bytes of an upload are in FOLDER/files, below its name; FOLDER/log has a line for each answer.
import glob
import json
import os
import sys

import uvicorn
from fastapi import FastAPI
from tuspyserver import create_tus_router

folder, port = sys.argv[1], int(sys.argv[2])
# It appends to what a killed server has left, whatever offset it names: what it has not noted goes.
for info in glob.glob(folder + "/files/*.info"):
    os.truncate(info[:-5], json.load(open(info))["offset"])
app = FastAPI()
app.include_router(create_tus_router(prefix="files", files_dir=folder + "/files"))


async def logged(scope, receive, send):
    async def note(message):
        if message["type"] == "http.response.start":
            with open(folder + "/log", "a") as out:
                print(scope["method"], scope["path"], message["status"], file=out)
        await send(message)

    await app(scope, receive, note if scope["type"] == "http" else send)

uvicorn.run(logged, host="127.0.0.1", port=port, log_level="warning")
