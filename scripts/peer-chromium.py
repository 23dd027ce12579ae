# SPDX-License-Identifier: Apache-2.0
# Chromium without a screen, whose microphone hears a file: peer-chromium.py FOLDER SOUND URL
# FOLDER is its own. Each line of standard input is evaluated as JavaScript in the page, and its value is printed
# as text in JSON; 'picture FILE WIDTH HEIGHT light|dark' keeps a picture. At the end the console's complaints are printed.
import asyncio
import base64
import json
import os
import subprocess
import sys

import websockets

folder, sound, url = sys.argv[1:4]
os.makedirs(folder, exist_ok=True)
browser = subprocess.Popen([
    "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--remote-debugging-port=0", "--user-data-dir=" + folder,
    "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream",
    "--use-file-for-fake-audio-capture=" + sound + "%noloop", "about:blank",
], env={**os.environ, "TMPDIR": folder}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
complaints = []


class Page:
    def __init__(self, socket):
        self.socket, self.number, self.waiting, self.session = socket, 0, {}, None

    async def hear(self):
        async for text in self.socket:
            message = json.loads(text)
            if message.get("id") in self.waiting:
                self.waiting.pop(message["id"]).set_result(message)
            elif message.get("method") == "Log.entryAdded":
                complaints.append(message["params"]["entry"]["text"])
            elif message.get("method") == "Runtime.exceptionThrown":
                complaints.append(message["params"]["exceptionDetails"]["text"])

    async def ask(self, method, **parameters):
        self.number += 1
        answer = self.waiting[self.number] = asyncio.get_running_loop().create_future()
        order = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            order["sessionId"] = self.session
        await self.socket.send(json.dumps(order))
        return (await answer).get("result", {})

    async def evaluate(self, script):
        answer = await self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            return {"error": answer["exceptionDetails"].get("exception", {}).get("description", "")}
        value = answer["result"].get("value")
        return {"value": value if isinstance(value, str) else json.dumps(value)}

    async def picture(self, path, width, height, scheme):
        await self.ask("Emulation.setDeviceMetricsOverride", width=int(width), height=int(height),
                       deviceScaleFactor=1, mobile=False)
        await self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        answer = await self.ask("Page.captureScreenshot", format="png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))
        return {"value": path}


async def main():
    for line in browser.stderr:
        if line.startswith("DevTools listening on "):
            break
    async with websockets.connect(line.split()[-1], max_size=None) as socket:
        page = Page(socket)
        listener = asyncio.create_task(page.hear())
        target = (await page.ask("Target.createTarget", url="about:blank"))["targetId"]
        page.session = (await page.ask("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        for domain in ["Runtime", "Log", "Page"]:
            await page.ask(domain + ".enable")
        await page.ask("Page.navigate", url=url)
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            words = line.split()
            answer = await (page.picture(*words[1:]) if words[:1] == ["picture"] else page.evaluate(line))
            print(json.dumps(answer), flush=True)
        print(json.dumps({"complaints": complaints}), flush=True)
        listener.cancel()

try:
    asyncio.run(main())
finally:
    browser.kill()
    browser.wait()
