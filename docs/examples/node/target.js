#!/usr/bin/env node
'use strict';
// The adapter: docs/protocol.md on one side, the store on the other.
//
//   holdtrue check --target 'node docs/examples/node/target.js {directory}'
//
// Options for the faults: see faults.js. Standard output belongs to the protocol; say other things on
// standard error.

const { chosen } = require('./faults.js');
const { StateFile } = require('./file.js');
const { Store, StoreError } = require('./store.js');
const { Surroundings } = require('./surroundings.js');

const CAPABILITIES = {
  moments: ['read_lease', 'authorize', 'read_admission', 'abandon_admission_if_absent', 'read_release',
    'prepare', 'activation', 'rename'],
  effects: ['raises', 'answers', 'reenters', 'happens'],
  hosts: 'many',
  readEpoch: true,
  audit: true,
  again: true,
};

const faults = chosen(process.argv.slice(3));
CAPABILITIES.processes = faults.has('no-lock') ? 'many' : 'one'; // the store has no lock, whatever it says
let directory = process.argv[2];
let around = null;
let file = null; // shared by the hosts of this process
let hosts = new Map();

const REQUESTS = {
  begin(request) {
    for (const host of hosts.values()) host.close();
    hosts = new Map();
    directory = request.directory;
    file = new StateFile(directory, faults);
    around = new Surroundings(request.surroundings, {
      refusal: (code) => new StoreError(code, 'the authority refused'),
      reenter: (host, context) => store(host).call('snapshot', {}, context),
      close: (host) => store(host).close(),
    });
    return null;
  },
  open({ host, holderId, epoch, initialMaxActiveRuns, arbitration = true }) {
    if (hosts.has(host)) hosts.get(host).close();
    hosts.set(host, new Store({
      file, faults, holderId, epoch, initialMaxActiveRuns,
      authority: around.authority(host, arbitration),
      clock: () => around.clock,
      rename: () => around.arrive('rename', host),
    }));
    return null;
  },
  call({ host, context, operation, arguments: given = {} }) {
    return store(host).call(operation, given, context,
      () => around.prepare(host, context, given.id));
  },
  readEpoch: () => file.read()?.fencingEpoch ?? 0,
  observe: () => observation(),
};

function store(host) {
  if (hosts.has(host)) return hosts.get(host);
  throw new StoreError('NO_SUCH_HOST', `no host ${host} was ever opened here`);
}

function observation() {
  return { store: file.read(), facts: around.facts, launched: around.launched };
}

function answer(request) {
  const { id } = request;
  if (request.do === 'hello') {
    return { id, hello: { protocol: 1, name: 'naive-node', version: '1', capabilities: CAPABILITIES } };
  }
  const reply = { id };
  if (around) around.begin(request.disturbances || []);
  try {
    if (request.do in REQUESTS) reply.ok = REQUESTS[request.do](request) ?? null;
    else if (around && around.happen(request)) reply.ok = null;
    else throw new StoreError('UNKNOWN_REQUEST', `there is no request ${request.do}`);
  } catch (error) {
    const known = error instanceof StoreError;
    reply.error = { code: known ? error.code : 'CRASHED', message: known ? error.message : String(error.stack),
      side_effects: known ? error.sideEffects : 'unknown' };
  }
  if (request.disturbances) reply.struck = around.struck;
  if (request.observe) reply.observation = observation();
  return reply;
}

let read = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (piece) => {
  const lines = (read + piece).split('\n');
  read = lines.pop();
  for (const line of lines) process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`);
});
