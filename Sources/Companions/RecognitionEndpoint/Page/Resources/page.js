// SPDX-License-Identifier: Apache-2.0
"use strict";
const byId = (id) => document.getElementById(id);
const [speak, file, level, list] = ["speak", "file", "level", "list"].map(byId);
// The address bar and the history are no place for it; a browser may refuse to store it for the tab.
const storage = (() => { try { return sessionStorage; } catch { return null; } })();
const token = location.hash.slice(1) || storage?.getItem("token") || "";
if (location.hash) history.replaceState(null, "", location.pathname);
storage?.setItem("token", token);
addEventListener("hashchange", () => location.reload());
let [take, isBusy, pending] = [null, false, 0];

// MARK: What is said to the person; texts of others are always text, never marks.

function warn(text, place = "notice") {
  byId(place).textContent = text;
  byId(place).hidden = !text;
}

function status(text) { byId("status").textContent = text; }

class Row {
  constructor(name) {
    const item = document.createElement("li");
    const [text, fact] = ["partial", "fact"].map((kind) => {
      const line = document.createElement("p");
      line.className = kind;
      line.dir = "auto";
      item.append(line);
      return line;
    });
    // A name may turn the direction of what follows.
    const own = document.createElement("bdi");
    own.textContent = name;
    fact.append(own, document.createElement("span"));
    [this.text, this.fact, this.begin] = [text, fact.lastChild, performance.now()];
    this.tell("…", "sending");
    list.prepend(item);
    pending++;
  }

  tell(text, fact) {
    this.text.textContent = text;
    this.fact.textContent = fact && ` · ${fact}`;
  }

  // Keeps a recording within reach until its text is there.
  offer(sound) {
    if (this.link) return;
    this.link = document.createElement("a");
    [this.link.href, this.link.download] = [URL.createObjectURL(sound), "recording.wav"];
    this.link.textContent = "Save the recording";
    this.link.addEventListener("click", () => this.settle());
    this.fact.parentNode.append(" ", this.link);
  }

  // Nothing is lost now if the page goes.
  settle() {
    if (!this.isSettled) pending--;
    this.isSettled = true;
  }

  end(text, fact) {
    this.settle();
    if (this.link) URL.revokeObjectURL(this.link.href);
    this.link?.remove();
    this.text.className = "";
    const time = ((performance.now() - this.begin) / 1000).toFixed(1);
    this.tell(text || "(no words)", `${fact}, text in ${time} s`);
    status(text ? `Text: ${text}` : "No words were heard.");
  }

  fail(reason) {
    if (!this.link) this.settle();
    this.text.className = "failed";
    this.tell(`Not recognised: ${reason}`, "");
    status(`Not recognised: ${reason}`);
  }
}

// MARK: Requests

const types = { wav: "audio/wav", ogg: "audio/ogg", oga: "audio/ogg", opus: "audio/ogg", flac: "audio/flac", mp3: "audio/mpeg", m4a: "audio/mp4", webm: "audio/webm" };

async function ask(path, options = {}) {
  const headers = { Authorization: `Bearer ${token}`, ...options.headers };
  const answer = await fetch(path, { ...options, headers, cache: "no-store" });
  if (answer.ok) return answer;
  const failure = await answer.json().catch(() => null);
  throw new Error(failure?.error?.message ?? `status ${answer.status}`);
}

// Sends a recording; its partial texts come while the endpoint recognises it.
async function send(sound, name, row, fault = "") {
  try {
    const headers = {
      "Content-Type": types[name.split(".").pop().toLowerCase()] ?? (sound.type || "audio/wav"),
      Accept: "application/x-ndjson",
    };
    if (fault) Object.assign(headers, { Authorization: `Bearer ${byId("operator-token").value}`, "X-Misbehave": fault });
    status(`Sending ${name}.`);
    const answer = await ask("recognize", { method: "POST", body: sound, headers });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let [rest, final] = ["", null];
    for (;;) {
      const { value, done } = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : lines.pop();
      for (const line of lines.filter((line) => line.trim())) {
        const event = JSON.parse(line);
        if (event.type === "partial") row.tell(event.text, "recognising");
        else if (event.type === "final") final = event;
        else if (event.type === "error") throw new Error(event.message);
      }
      if (done) break;
    }
    if (!final) throw new Error("the answer broke off");
    row.end(final.text, `${final.duration.toFixed(1)} s of sound`);
  } catch (error) {
    row.fail(error.message);
  }
}

// MARK: Speech

// A recording of 16-bit samples in one channel as a WAV file.
function wav(parts, rate) {
  const size = parts.reduce((sum, part) => sum + part.byteLength, 0);
  const head = new DataView(new ArrayBuffer(44));
  [..."RIFF    WAVEfmt "].forEach((letter, place) => head.setUint8(place, letter.charCodeAt(0)));
  head.setUint32(4, 36 + size, true);
  head.setUint32(16, 16, true);
  head.setUint16(20, 1, true);
  head.setUint16(22, 1, true);
  head.setUint32(24, rate, true);
  head.setUint32(28, rate * 2, true);
  head.setUint16(32, 2, true);
  head.setUint16(34, 16, true);
  [..."data"].forEach((letter, place) => head.setUint8(36 + place, letter.charCodeAt(0)));
  head.setUint32(40, size, true);
  return new Blob([head, ...parts], { type: "audio/wav" });
}

// A realtime session; what is spoken before it is open waits, and all of it stays until the text is there.
class Session {
  constructor(rate) {
    [this.rate, this.parts, this.sent, this.isOver, this.isCommitted] = [rate, [], 0, false, false];
    [this.row, this.text, this.count] = [new Row("microphone"), "", 0];
    this.tell("listening");
    this.open().catch((error) => this.lose(error.message));
  }

  async open() {
    const { ticket } = await (await ask("page/ticket", { method: "POST", signal: AbortSignal.timeout(10000) })).json();
    if (this.isOver) return;
    const address = new URL("v1/realtime", location.href);
    address.protocol = address.protocol.replace("http", "ws");
    this.socket = new WebSocket(address, ["utter.page", `utter.ticket.${ticket}`]);
    this.socket.onopen = () => {
      const format = { type: "audio/pcm", rate: this.rate };
      this.say({ type: "session.update", session: { audio: { input: { format } } } });
      this.pump();
    };
    this.socket.onmessage = (message) => this.hear(JSON.parse(message.data));
    this.socket.onclose = (close) => this.lose(close.reason || "the session was closed");
    // A connection of a network that is gone may stay silent for minutes.
    addEventListener("offline", () => this.lose("the network is gone"), { once: true });
  }

  tell(state) { this.row.tell(this.text || "…", `${(this.count / this.rate).toFixed(1)} s, ${state}`); }

  say(message) { this.socket.send(JSON.stringify(message)); }

  add(part) {
    if (!part.length || this.isCommitted) return;
    this.parts.push(part);
    this.count += part.length;
    this.pump();
    this.tell(this.isOver ? `the session was lost (${this.reason}); recording goes on` : "listening");
  }

  pump() {
    if (this.isOver || this.socket?.readyState !== WebSocket.OPEN) return;
    for (; this.sent < this.parts.length; this.sent++) this.socket.send(this.parts[this.sent]);
    if (this.isCommitted) this.say({ type: "input_audio_buffer.commit" });
  }

  commit() {
    this.isCommitted = true;
    this.row.begin = performance.now();
    if (this.parts.length) this.row.offer(wav(this.parts, this.rate));
    if (this.isOver) return this.resend();
    if (!this.parts.length) return this.lose("the microphone gave no sound");
    this.tell("recognising");
    this.pump();
  }

  hear(event) {
    if (this.isOver) return;
    if (event.type.endsWith(".delta")) {
      this.text += event.delta;
      this.tell(this.isCommitted ? "recognising" : "listening");
    } else if (event.type.endsWith(".completed")) {
      this.isOver = true;
      this.row.end(event.transcript, `${event.usage.seconds.toFixed(1)} s of sound`);
      this.socket.close();
    } else if (event.type.endsWith(".failed") || event.type === "error") {
      this.lose(event.error.message);
    }
  }

  // The session is lost, and no sound: it goes as a file once the person has ended.
  lose(reason) {
    if (this.isOver) return;
    [this.isOver, this.reason] = [true, reason];
    this.socket?.close();
    if (this.isCommitted) this.resend();
  }

  resend() {
    if (this.parts.length) send(wav(this.parts, this.rate), "microphone.wav", this.row);
    else this.row.fail(this.reason);
  }
}

// Recognisers need no more than 16 kHz. Some browsers take a microphone at its own rate alone.
let rate = { sampleRate: 16000 };

async function prepare() {
  const context = new AudioContext(rate);
  try {
    await context.audioWorklet.addModule("page-microphone.js");
    return context;
  } catch (error) {
    context.close();
    throw error;
  }
}

// The filters of calls take parts of words away.
const unfiltered = { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: false };

// The microphone is opened last: nothing would hear it while the rest loads.
async function begin() {
  const context = await prepare();
  let stream = null;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ audio: unfiltered });
    return await record(context, stream);
  } catch (error) {
    stream?.getTracks().forEach((track) => track.stop());
    context.close();
    if (!stream || !rate.sampleRate) throw error;
    rate = {};
    return begin();
  }
}

async function record(context, stream) {
  const source = context.createMediaStreamSource(stream);
  await context.resume();
  const microphone = new AudioWorkletNode(context, "microphone", { numberOfOutputs: 0, channelCount: 1, channelCountMode: "explicit" });
  const session = new Session(context.sampleRate);
  // Once the last samples are there, or will not come: a system may have taken the sound away.
  let isOpen = true;
  const finish = () => {
    if (!isOpen) return;
    isOpen = false;
    stream.getTracks().forEach((track) => track.stop());
    context.close();
    session.commit();
  };
  microphone.port.onmessage = ({ data }) => {
    if (!data) return finish();
    session.add(data.samples);
    level.value = data.level;
  };
  source.connect(microphone);
  // A microphone that is pulled out ends the recording, too.
  stream.getAudioTracks()[0].onended = end;
  return { stop() {
    stream.getAudioTracks()[0].onended = null;
    microphone.port.postMessage(null);
    setTimeout(finish, 1000);
  } };
}

function show(isOn) {
  speak.textContent = isOn ? "Stop" : "Speak";
  speak.classList.toggle("on", isOn);
  level.hidden = !isOn;
}

function end() {
  take?.stop();
  take = null;
  show(false);
  status("Recognising.");
}

speak.addEventListener("click", async () => {
  if (isBusy) return;
  if (take) return end();
  isBusy = true;
  warn("");
  try {
    take = await begin();
    show(true);
    status("Listening.");
  } catch (error) {
    warn(`The microphone cannot be used: ${error.message}. Allow it for this page, and see that no other program holds it.`);
  }
  isBusy = false;
});

addEventListener("beforeunload", (event) => { if (take || pending) event.preventDefault(); });

// MARK: Files

async function sendAll(files) {
  const fault = byId("misbehave").value;
  warn(fault && !byId("operator-token").value ? "X-Misbehave needs the operator's token." : "");
  const rows = files.map((one) => new Row(one.name));
  for (const [index, one] of files.entries()) {
    rows[index].begin = performance.now();
    await send(one, one.name, rows[index], fault);
  }
}

file.addEventListener("change", async () => {
  await sendAll([...file.files]);
  file.value = "";
});
addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("over"); });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("over"); });
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("over");
  if (!file.disabled) sendAll([...event.dataTransfer.files]);
});

// MARK: The operator

let timer = null;

async function look() {
  clearTimeout(timer);
  try {
    const headers = { Authorization: `Bearer ${byId("operator-token").value}` };
    const { requests, load } = await (await ask("page/requests", { headers })).json();
    byId("load").textContent = `${load.running} of ${load.maximum} recognisers work`;
    byId("requests").replaceChildren(...requests.map((one) => {
      const row = document.createElement("tr");
      const sound = one.audio === undefined ? "" : `${one.audio.toFixed(1)} s`;
      for (const text of [one.peer, `${one.method} ${one.path}`, one.status ?? "none", one.bytes, sound, `${one.seconds.toFixed(2)} s`]) {
        row.insertCell().textContent = text;
      }
      return row;
    }));
    document.querySelector("table").hidden = false;
    warn("", "operator-notice");
    if (byId("operator").open) timer = setTimeout(look, 2000);
  } catch (error) {
    warn(`The requests cannot be shown: ${error.message}`, "operator-notice");
  }
}

byId("operator").addEventListener("toggle", () => { if (byId("operator").open && byId("operator-token").value) look(); });
byId("operator-form").addEventListener("submit", (event) => { event.preventDefault(); look(); });

// MARK: What this browser can do

if (!token) {
  warn("This address has no token. Open the one that 'utter serve --page' has printed.");
} else {
  file.disabled = false;
  if (!isSecureContext) warn("Browsers give a page a microphone on localhost or over TLS alone. Files can be sent.");
  else if (!navigator.mediaDevices) warn("This browser has no microphone for pages. Files can be sent.");
  else speak.disabled = false;
}
