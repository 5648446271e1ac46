'use strict';
// The faults that were written into the store on purpose, each with what is wrong. All are there by default;
// `--without a,b` mends some, `--mended` all, `--only a` all others.

const FAULTS = {
  'no-lock': 'it says that several processes may use it at once, and no lock keeps them apart',
  'one-too-many': 'a slot more than the maximum is granted',
  'time-frees': 'a reservation whose time is over is freed without asking its project',
  'asked-once': 'the caller is authorized at the beginning of a call and never again',
  'written-in-place': 'the file is written over in place: a kill leaves half of it, or nothing',
  'answered-early': 'the answer goes out before the file is written',
  'commands-twice': 'a command id that was used takes effect once more',
  'any-case': 'ids in upper case are taken, as ids of their own',
  'caller-believed': "commit takes the caller's word that its project has admitted the run",
  'old-hosts': 'a host with an older epoch than the stored one may go on',
  'clock-believed': 'a clock that went backwards is not noticed',
  'released-twice': 'forceRelease overrides a release that was proven',
  'still-alive': 'normalRelease does not ask whether a process is left',
  'late-renewal': 'a reservation whose time is over can be renewed',
  'rebound': 'commit binds another attempt to a run that has one',
  'curious': "readReservation shows anybody's reservation to anybody",
  'unchecked': 'arguments are used before they are checked, so nonsense ends in a TypeError',
};

function chosen(argv) {
  const all = Object.keys(FAULTS);
  const listed = (option) => {
    const at = argv.indexOf(option);
    if (at < 0) return null;
    const named = argv[at + 1].split(',');
    const unknown = named.find((name) => !all.includes(name));
    if (unknown !== undefined) throw new Error(`${unknown} is no fault; there are ${all.join(', ')}`);
    return named;
  };
  if (argv.includes('--mended')) return new Set();
  const only = listed('--only');
  if (only) return new Set(only);
  const without = listed('--without') || [];
  return new Set(all.filter((name) => !without.includes(name)));
}

module.exports = { FAULTS, chosen };
