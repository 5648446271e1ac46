'use strict';
// An operation's arguments, checked before its transaction starts, in the order of its signature.

const { isInteger, isSound, isText, isUuid } = require('./values.js');

const isCount = (value) => isInteger(value, 1);
const isTtl = (value) => isInteger(value, 1) && value <= 86_400_000;
const ID = { id: [isUuid] };

// name: [check, whether it may be absent]
const SIGNATURES = {
  reserve: { reservationId: [isUuid], projectId: [isUuid], projectControlDomainId: [isUuid], runId: [isUuid],
    ttlMs: [isTtl] },
  commit: { id: [isUuid], projectAdmitCommitSeq: [isCount], attemptId: [isUuid, true],
    providerJobHandle: [isText, true] },
  renew: { id: [isUuid], ttlMs: [isTtl, true] },
  markOrphanSuspect: ID,
  normalRelease: ID,
  forceRelease: { id: [isUuid], commandId: [isUuid], riskAcknowledgement: [() => true], reason: [() => true] },
  setMaxActiveRuns: { commandId: [isUuid], maxActiveRuns: [isCount] },
  readReservation: ID,
  readCommand: ID,
  snapshot: {},
  dispatch: ID,
};

// The arguments, absent ones as null; refuses what is not as it should be.
function checked(operation, given, faults, refuse) {
  const signature = SIGNATURES[operation];
  if (!signature) refuse('COMMAND_FAILED', `there is no operation ${operation}`);
  const args = { ...given };
  if (faults.has('unchecked') && operation === 'reserve') args.runId = given.runId.toString();
  if (faults.has('any-case') && typeof args.id === 'string') args.id = args.id.toLowerCase();
  if (Object.keys(args).some((name) => !(name in signature))) refuse('COMMAND_FAILED', 'an argument too many');
  for (const [name, [fits, optional]] of Object.entries(signature)) {
    args[name] = args[name] ?? null;
    if (name === 'riskAcknowledgement' || name === 'reason') continue;
    if (!fits(args[name]) && !(optional && args[name] === null)) refuse('COMMAND_FAILED', `${name} is wrong`);
  }
  if (operation === 'forceRelease') {
    const { riskAcknowledgement, reason } = args;
    if (riskAcknowledgement !== true || typeof reason !== 'string' || reason.trim() === '') {
      refuse('POLICY_DENIED', 'the risk has to be taken in writing');
    }
    if (!isSound(reason)) refuse('COMMAND_FAILED', 'reason is wrong');
  }
  return args;
}

module.exports = { checked };
