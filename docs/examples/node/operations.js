'use strict';
// What each operation does once its transaction has come to it: guards from top to bottom, then the change.

const { createHash } = require('node:crypto');
const { names, showsAnEnd, showsNoLife, verdictOf } = require('./values.js');

const HOLDING = ['reserved', 'committed', 'orphan-suspect'];

function refuse(code, message) {
  const { StoreError } = require('./store.js');
  throw new StoreError(code, message);
}

const conflict = (message) => refuse('ADMISSION_BINDING_CONFLICT', message);
const held = (t) => t.state.reservations.filter((row) => HOLDING.includes(row.reservation.state)).length;
const find = (t, id) => t.state.reservations.find((row) => row.reservation.reservationId === id);

function owned(t, row) {
  if (row.ownerId !== t.identity.ownerId || row.principal !== t.identity.principal) {
    refuse('AUTHORITY_REVOKED', "it is another owner's");
  }
  return row;
}

const own = (t, id) => owned(t, find(t, id) || conflict('there is no such reservation'));

function touch(t, row, changes) {
  Object.assign(row.reservation, changes, { coordinatorEpoch: t.store.epoch });
  row.updatedAt = t.now;
  return row;
}

function reserve(t, args) {
  const { reservationId, projectId, projectControlDomainId, runId, ttlMs } = args;
  const known = find(t, reservationId);
  if (known) {
    owned(t, known);
    const same = names(known.reservation, args);
    return same && known.reservation.state === 'reserved' ? known : conflict('that id is taken');
  }
  const most = t.state.maxActiveRuns + (t.store.faults.has('one-too-many') ? 1 : 0);
  if (held(t) >= most) refuse('CAPACITY_EXCEEDED', `${held(t)} slots are held`);
  const row = {
    reservation: { reservationId, state: 'reserved', slots: 1, projectId, projectControlDomainId, runId,
      coordinatorEpoch: t.store.epoch, reservedExpiresAt: t.now + ttlMs },
    ownerId: t.identity.ownerId,
    principal: t.identity.principal,
    updatedAt: t.now,
    concurrencyGuarantee: 'enforced',
  };
  t.state.reservations.push(row);
  return row;
}

function commit(t, { id, projectAdmitCommitSeq, attemptId, providerJobHandle }) {
  const row = own(t, id);
  const { reservation } = row;
  const given = { attemptId, providerJobHandle };
  if (reservation.state === 'committed') return commitAgain(t, row, projectAdmitCommitSeq, given);
  if (reservation.state !== 'reserved') conflict('it is not reserved');
  if (t.bindingTaken(row)) conflict('its run has a slot already');
  let runVersion = 1;
  if (!t.store.faults.has('caller-believed')) {
    const proof = t.ask(() => t.store.authority.readAdmission({ ...reservation, projectAdmitCommitSeq }));
    if (reservation.reservedExpiresAt <= t.look()) conflict('its time is over');
    if (verdictOf(proof) !== 'admitted' || !names(proof, reservation)
      || proof.projectAdmitCommitSeq !== projectAdmitCommitSeq) conflict('the admission is not proven');
    runVersion = proof.runVersion;
  }
  touch(t, row, { state: 'committed', projectAdmitCommitSeq, ...present(given) });
  delete reservation.reservedExpiresAt;
  row.admitRunVersion = runVersion;
  return row;
}

const present = (given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));

function commitAgain(t, row, sequence, given) {
  const { reservation } = row;
  if (reservation.projectAdmitCommitSeq !== sequence) conflict('another sequence was committed');
  const keys = Object.keys(given);
  const differs = (key) => reservation[key] !== undefined && reservation[key] !== given[key];
  if (keys.some(differs) && !t.store.faults.has('rebound')) conflict('another value is bound');
  if (keys.every((key) => (reservation[key] ?? null) === given[key])) return row;
  return touch(t, row, present(given));
}

function renew(t, { id, ttlMs }) {
  const row = own(t, id);
  const { reservation } = row;
  if (!HOLDING.includes(reservation.state)) conflict('it holds no slot');
  if (reservation.state === 'reserved') {
    if (ttlMs === null) refuse('COMMAND_FAILED', 'a new time limit is needed');
    const late = reservation.reservedExpiresAt <= t.look();
    if (late && !t.store.faults.has('late-renewal')) conflict('its time is over');
    reservation.reservedExpiresAt = t.now + ttlMs;
  } else if (ttlMs !== null) conflict('a committed run has no time limit');
  return touch(t, row, { renewedAt: t.now });
}

function markOrphanSuspect(t, { id }) {
  const row = own(t, id);
  if (row.reservation.state === 'orphan-suspect') return row;
  if (row.reservation.state !== 'committed') conflict('it is not committed');
  return touch(t, row, { state: 'orphan-suspect' });
}

function normalRelease(t, { id }) {
  const row = own(t, id);
  const { reservation } = row;
  if (reservation.state === 'released' && row.releaseKind === 'normal') return row;
  if (!['committed', 'orphan-suspect'].includes(reservation.state)) conflict('it holds no admitted run');
  const proof = t.ask(() => t.store.authority.readRelease(reservation));
  const proven = showsAnEnd(proof) && names(proof, reservation)
    && proof.projectAdmitCommitSeq === reservation.projectAdmitCommitSeq
    && proof.runVersion >= row.admitRunVersion
    && (showsNoLife(proof) || t.store.faults.has('still-alive'));
  if (!proven) refuse('RECONCILE_REQUIRED', 'it is not proven that nothing of the run is alive');
  touch(t, row, { state: 'released' });
  return Object.assign(row, { releaseKind: 'normal', releaseProofId: proof.proofId });
}

function forceRelease(t, { id, commandId, reason }) {
  const request = { kind: 'forceRelease', reservationId: id, riskAcknowledgement: true, reason };
  return command(t, commandId, request, () => {
    const row = find(t, id) || conflict('there is no such reservation');
    const over = row.reservation.state === 'released' && !t.store.faults.has('released-twice');
    if (over || row.reservation.state === 'expired') conflict('it is over');
    touch(t, row, { state: 'released' });
    delete row.reservation.reservedExpiresAt;
    return Object.assign(row, { releaseKind: 'force', concurrencyGuarantee: 'operator-overridden' });
  });
}

function setMaxActiveRuns(t, { commandId, maxActiveRuns }) {
  return command(t, commandId, { kind: 'setMaxActiveRuns', maxActiveRuns }, () => {
    if (maxActiveRuns < held(t)) refuse('CAPACITY_EXCEEDED', 'more slots are held than that');
    t.state.maxActiveRuns = maxActiveRuns;
    return maxActiveRuns;
  });
}

// A command id takes effect once; later its stored answer is given again.
function command(t, commandId, request, takeEffect) {
  if (!t.identity.operator) refuse('POLICY_DENIED', 'an operator does that');
  const known = readCommand(t, { id: commandId });
  if (known && !t.store.faults.has('commands-twice')) {
    if (canonical(known.request) !== canonical(request)) refuse('IDEMPOTENCY_CONFLICT', 'the id is taken');
    return known.result;
  }
  const result = takeEffect();
  const commitSeq = t.state.commitSeq + 1;
  t.state.commands[commandId] = {
    request,
    record: { commandId, kind: request.kind, callerPrincipal: t.identity.principal, status: 'completed',
      requestHash: createHash('sha256').update(canonical(request)).digest('hex'),
      firstCommitSeq: commitSeq, lastCommitSeq: commitSeq },
    result: structuredClone(result),
  };
  return result;
}

const canonical = (request) => JSON.stringify(request, Object.keys(request).sort());

function readReservation(t, { id }) {
  const row = find(t, id);
  if (row && !t.store.faults.has('curious')) owned(t, row);
  return row || null;
}

function readCommand(t, { id }) {
  const known = t.state.commands[id];
  if (known && known.record.callerPrincipal !== t.identity.principal) {
    refuse('CROSS_PRINCIPAL_COMMAND', "it is another principal's");
  }
  return known || null;
}

function snapshot(t) {
  const rows = t.state.reservations;
  const many = (state) => rows.filter((row) => row.reservation.state === state).length;
  const overridden = rows.some((row) => row.concurrencyGuarantee === 'operator-overridden');
  return () => ({ // called after publication, for the numbers as they are then
    commitSeq: t.state.commitSeq,
    fencingEpoch: t.store.epoch,
    capacity: { maxActiveRuns: t.state.maxActiveRuns, active: held(t), reserved: many('reserved'),
      committed: many('committed'), orphanSuspect: many('orphan-suspect') },
    concurrencyGuarantee: overridden ? 'operator-overridden' : 'enforced',
    reservations: rows,
    commands: Object.values(t.state.commands),
  });
}

function dispatch(t, { id }, prepare) {
  const row = own(t, id);
  if (row.reservation.state !== 'committed') conflict('it is not committed');
  const launch = t.ask(() => prepare(row));
  if (typeof launch !== 'function') refuse('COMMAND_FAILED', 'nothing that launches');
  t.launch = launch;
  return null;
}

module.exports = { reserve, commit, renew, markOrphanSuspect, normalRelease, forceRelease, setMaxActiveRuns,
  readReservation, readCommand, snapshot, dispatch };
