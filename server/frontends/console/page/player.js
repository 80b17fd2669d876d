// Plays speech while it comes: 16-bit samples are scheduled through Web Audio, piece by piece and without gaps.

const LEAD = 0.04;   // seconds between scheduling the first piece and hearing it

export class Player {
  constructor(onChange) {
    this.onChange = onChange;
    this.context = null;
    this.reset(24000);
  }

  // Forgets all sound; the next comes at this rate. Must be called in an event of the user, or the browser keeps it silent.
  reset(rate) {
    this.silence();
    this.rate = rate;
    this.chunks = [];
    this.length = 0;       // samples
    this.complete = false;
    this.playing = false;
    this.at = 0;           // position in seconds while it does not play
    this.peaks = [];
    this.loudest = 0;
    this.odd = null;
  }

  open() {
    if (this.context && this.context.sampleRate === this.rate) return;
    this.context?.close();
    this.context = new AudioContext({ sampleRate: this.rate, latencyHint: "interactive" });
    this.analyser = this.context.createAnalyser();
    this.analyser.fftSize = 2048;
    this.analyser.connect(this.context.destination);
  }

  get duration() {
    return this.length / this.rate;
  }

  // Adds little-endian 16-bit samples.
  push(bytes) {
    if (this.odd !== null) {
      const joined = new Uint8Array(bytes.length + 1);
      joined[0] = this.odd;
      joined.set(bytes, 1);
      bytes = joined;
      this.odd = null;
    }
    if (bytes.length % 2) {
      this.odd = bytes[bytes.length - 1];
      bytes = bytes.subarray(0, bytes.length - 1);
    }
    if (bytes.length === 0) return;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const samples = new Float32Array(bytes.length / 2);
    for (let i = 0; i < samples.length; ++i) samples[i] = view.getInt16(2 * i, true) / 32768;
    this.addPeaks(samples);
    this.chunks.push(samples);
    this.length += samples.length;
    if (this.playing) this.schedule(samples);
    this.onChange();
  }

  end() {
    this.complete = true;
    this.onChange();
  }

  // One peak for every 1/50 s.
  addPeaks(samples) {
    const step = this.rate / 50;
    for (let i = 0; i < samples.length; ++i) {
      const place = Math.floor((this.length + i) / step);
      const size = Math.abs(samples[i]);
      if (!(this.peaks[place] >= size)) this.peaks[place] = size;
      if (size > this.loudest) this.loudest = size;
    }
  }

  schedule(samples) {
    const buffer = this.context.createBuffer(1, samples.length, this.rate);
    buffer.copyToChannel(samples, 0);
    const source = this.context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.analyser);
    const now = this.context.currentTime;
    if (this.next < now + 0.005) {
      // The speech came too late, or is the first: it begins a new run.
      this.next = now + LEAD;
      this.runs.push({ when: this.next, position: this.scheduled });
    }
    source.start(this.next);
    source.onended = () => this.sources.delete(source);
    this.sources.add(source);
    this.next += samples.length / this.rate;
    this.scheduled += samples.length / this.rate;
  }

  get position() {
    if (!this.playing) return this.at;
    const now = this.context.currentTime;
    let run = null;
    for (const candidate of this.runs) {
      if (candidate.when <= now) run = candidate;
    }
    if (!run) return this.runs.length ? this.runs[0].position : this.at;
    const following = this.runs[this.runs.indexOf(run) + 1];
    return Math.min(run.position + now - run.when, following ? following.position : this.scheduled);
  }

  get finished() {
    return this.complete && this.position >= this.duration - 0.01;
  }

  play(from = this.finished ? 0 : this.position) {
    this.open();
    this.context.resume();
    this.silence();
    this.scheduled = from;
    this.playing = true;
    const first = Math.floor(from * this.rate);
    if (first < this.length) this.schedule(this.samples(first));
    this.onChange();
  }

  pause() {
    if (!this.playing) return;
    this.at = this.position;
    this.playing = false;
    this.silence();
    this.onChange();
  }

  seek(seconds) {
    const to = Math.max(0, Math.min(seconds, this.duration));
    if (this.playing) {
      this.play(to);
    } else {
      this.at = to;
      this.onChange();
    }
  }

  silence() {
    for (const source of this.sources ?? []) {
      source.onended = null;
      source.stop();
      source.disconnect();
    }
    this.sources = new Set();
    this.runs = [];
    this.next = 0;
    this.scheduled = 0;
  }

  // All samples from one on.
  samples(first = 0) {
    const all = new Float32Array(this.length - first);
    let at = 0;
    for (const chunk of this.chunks) {
      const from = Math.max(0, first - at);
      if (from < chunk.length) all.set(chunk.subarray(from), at + from - first);
      at += chunk.length;
    }
    return all;
  }

  // The loudness that is heard now, 0 .. 1.
  level() {
    if (!this.analyser) return 0;
    const heard = new Float32Array(this.analyser.fftSize);
    this.analyser.getFloatTimeDomainData(heard);
    return Math.sqrt(heard.reduce((sum, sample) => sum + sample * sample, 0) / heard.length);
  }

  // The whole as a WAV file.
  wav() {
    const samples = this.samples();
    const file = new DataView(new ArrayBuffer(44 + 2 * samples.length));
    const text = (at, letters) => [...letters].forEach((letter, i) => file.setUint8(at + i, letter.charCodeAt(0)));
    text(0, "RIFF");
    file.setUint32(4, 36 + 2 * samples.length, true);
    text(8, "WAVEfmt ");
    file.setUint32(16, 16, true);
    file.setUint16(20, 1, true);
    file.setUint16(22, 1, true);
    file.setUint32(24, this.rate, true);
    file.setUint32(28, 2 * this.rate, true);
    file.setUint16(32, 2, true);
    file.setUint16(34, 16, true);
    text(36, "data");
    file.setUint32(40, 2 * samples.length, true);
    samples.forEach((sample, i) => file.setInt16(44 + 2 * i, Math.round(Math.max(-1, Math.min(1, sample)) * 32767), true));
    return new Blob([file], { type: "audio/wav" });
  }
}
