'use strict';
// The state in one JSON file, `store.json`: read whole, written whole.

const fs = require('node:fs');
const path = require('node:path');

class StateFile {
  constructor(directory, faults) {
    this.directory = directory;
    this.path = path.join(directory, 'store.json');
    this.faults = faults;
    this.pending = null;
  }

  // The state, or null if there is none.
  read() {
    if (this.pending) return structuredClone(this.pending);
    if (!fs.existsSync(this.path)) return null;
    return JSON.parse(fs.readFileSync(this.path, 'utf8'));
  }

  publish(state) {
    if (!this.faults.has('answered-early')) {
      this.write(state);
      return;
    }
    const first = this.pending === null;
    this.pending = state;
    if (first) {
      setTimeout(() => {
        this.write(this.pending);
        this.pending = null;
      }, 20);
    }
  }

  write(state) {
    fs.mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    const text = `${JSON.stringify(state)}\n`;
    if (this.faults.has('written-in-place')) {
      fs.writeFileSync(this.path, text, { mode: 0o600 });
      return;
    }
    const fresh = `${this.path}.new`;
    const file = fs.openSync(fresh, 'w', 0o600);
    fs.writeSync(file, text);
    fs.fsyncSync(file);
    fs.closeSync(file);
    fs.renameSync(fresh, this.path);
    const directory = fs.openSync(this.directory, 'r');
    fs.fsyncSync(directory);
    fs.closeSync(directory);
  }
}

module.exports = { StateFile };
