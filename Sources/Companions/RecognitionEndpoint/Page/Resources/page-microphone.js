// SPDX-License-Identifier: Apache-2.0
"use strict";
// Collects a tenth of a second of one channel, and hands it over as 16-bit samples with its level.
class Microphone extends AudioWorkletProcessor {
  constructor() {
    super();
    this.samples = new Int16Array(Math.round(sampleRate / 10));
    this.count = 0;
    this.level = 0;
    this.isOn = true;
    // The last part is shorter.
    this.port.onmessage = () => { this.isOn = false; this.flush(); this.port.postMessage(null); };
  }

  flush() {
    const part = this.samples.slice(0, this.count);
    this.port.postMessage({ samples: part, level: this.level }, [part.buffer]);
    this.count = 0;
    this.level = 0;
  }

  process(inputs) {
    if (!this.isOn) return false;
    for (const sample of inputs[0][0] ?? []) {
      const value = Math.max(-1, Math.min(1, sample));
      this.level = Math.max(this.level, Math.abs(value));
      this.samples[this.count++] = Math.round(value * 32767);
      if (this.count === this.samples.length) this.flush();
    }
    return true;
  }
}
registerProcessor("microphone", Microphone);
