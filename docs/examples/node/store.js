'use strict';
// A deliberately naive capacity coordinator: one process, one JSON file, no lock. See faults.js for what is
// wrong with it on purpose; with all of that mended it does what docs/store.md says, for one process.

const { checked } = require('./arguments.js');
const operations = require('./operations.js');
const { identityOf, isInteger, isTelling, leaseOf, names, verdictOf } = require('./values.js');

class StoreError extends Error {
  constructor(code, message, sideEffects = 'none') {
    super(message);
    this.code = code;
    this.sideEffects = sideEffects;
  }
}

class ClockError extends StoreError {}

const refuse = (code, message) => { throw new StoreError(code, message); };

class Store {
  // Opens the store in `file` as a host. `rename` is called just before a state is published.
  constructor({ file, authority, clock, rename, faults, holderId, epoch, initialMaxActiveRuns }) {
    if (!isInteger(initialMaxActiveRuns, 1)) refuse('COMMAND_FAILED', 'the initial maximum is no count');
    if (!isInteger(epoch, 1) || !isTelling(holderId)) refuse('AUTHORITY_REVOKED', 'no such host');
    Object.assign(this, { file, authority, clock, rename, faults, holderId, epoch });
    this.open = true;
    this.latest = 0;
    this.transact('initialize', null, () => null, initialMaxActiveRuns);
  }

  close() {
    this.open = false;
  }

  call(operation, given, context, prepare) {
    const args = checked(operation, given, this.faults, refuse);
    return this.transact(operation, context, (t) => operations[operation](t, args, prepare));
  }

  // Every operation runs as one transaction; the order decides which error a caller sees.
  transact(operation, context, apply, initialMaximum) {
    if (!this.open) refuse('DURABILITY_FAILED', 'the store is closed');
    if (this.busy) refuse('DURABILITY_FAILED', 'called from inside its own callback');
    this.busy = true;
    try {
      const t = new Transaction(this, operation, initialMaximum);
      t.fence();
      if (context !== null) t.identity = t.authorize(context);
      this.sweep(t);
      const answer = apply(t);
      if (context !== null && !this.faults.has('asked-once')) {
        const again = t.authorize(context);
        const same = ['principal', 'ownerId', 'operator'].every((key) => again[key] === t.identity[key]);
        if (!same) refuse('AUTHORITY_REVOKED', 'the caller is somebody else by now');
      }
      this.stillOpen();
      t.fence();
      const recordedAt = t.look();
      t.publish(recordedAt, operation);
      if (t.launch) {
        this.stillOpen();
        if (t.look() >= t.expiresAt) refuse('AUTHORITY_REVOKED', 'the lease has run out');
        return t.ask(t.launch);
      }
      return typeof answer === 'function' ? answer() : answer;
    } finally {
      this.busy = false;
    }
  }

  stillOpen() {
    if (!this.open) refuse('DURABILITY_FAILED', 'the store was closed meanwhile');
  }

  // Reservations whose time is over become committed or expired, if their project proves which.
  sweep(t) {
    const start = t.look();
    for (const row of [...t.state.reservations]) {
      const reservation = row.reservation;
      if (reservation.state !== 'reserved' || reservation.reservedExpiresAt > start) continue;
      if (this.faults.has('time-frees')) {
        expire(row, start);
        continue;
      }
      let answer;
      try {
        answer = this.arbitrate(t, reservation);
      } catch (error) {
        if (!(error instanceof StoreError) || error instanceof ClockError) throw error;
        t.look();
        continue;
      }
      const now = t.look();
      t.fence();
      const verdict = verdictOf(answer);
      if (verdict === null || !names(answer, reservation)) continue;
      if (verdict === 'abandoned') expire(row, now);
      else if (!t.bindingTaken(row)) admit(row, answer, now, this.epoch);
    }
  }

  arbitrate(t, reservation) {
    const answer = t.ask(() => this.authority.readAdmission(reservation));
    if (verdictOf(answer) === 'admitted' || !this.authority.abandonAdmissionIfAbsent) return answer;
    t.fence();
    return t.ask(() => this.authority.abandonAdmissionIfAbsent(reservation));
  }
}

function expire(row, now) {
  row.reservation.state = 'expired';
  delete row.reservation.reservedExpiresAt;
  row.updatedAt = now;
}

function admit(row, proof, now, epoch) {
  Object.assign(row.reservation, { state: 'committed', projectAdmitCommitSeq: proof.projectAdmitCommitSeq,
    coordinatorEpoch: epoch });
  delete row.reservation.reservedExpiresAt;
  Object.assign(row, { admitRunVersion: proof.runVersion, updatedAt: now });
}

// What one call has in hand.
class Transaction {
  constructor(store, operation, initialMaximum) {
    this.store = store;
    const found = store.file.read();
    if (found === null && operation !== 'initialize') refuse('DURABILITY_FAILED', 'there is no store');
    this.before = found === null ? null : JSON.stringify(content(found, found.fencingEpoch));
    this.state = found || { fencingEpoch: store.epoch, commitSeq: 0, lastWallTime: 0,
      maxActiveRuns: initialMaximum, reservations: [], commands: {}, audit: [] };
    this.now = this.look();
  }

  // The wall clock, which must not go backwards.
  look() {
    const now = this.store.clock();
    if (this.store.faults.has('clock-believed')) return now;
    if (now < this.store.latest || now < this.state.lastWallTime) {
      throw new ClockError('AUTHORITY_REVOKED', 'the clock went backwards');
    }
    this.store.latest = now;
    return now;
  }

  // Calls one of the authority's callbacks.
  ask(callback) {
    try {
      return callback();
    } catch (error) {
      if (error instanceof StoreError) throw error;
      throw new StoreError('DURABILITY_FAILED', `a callback failed: ${error.message}`, 'unknown');
    }
  }

  fence() {
    const { store } = this;
    const lease = leaseOf(this.ask(() => store.authority.readLease()));
    const now = this.look();
    if (!lease || lease.holderId !== store.holderId || lease.fencingEpoch !== store.epoch
      || lease.expiresAt <= now) {
      refuse('AUTHORITY_REVOKED', 'the lease is not for this host');
    }
    if (this.state.fencingEpoch > store.epoch && !store.faults.has('old-hosts')) {
      refuse('AUTHORITY_REVOKED', 'a newer host has been here');
    }
    this.expiresAt = lease.expiresAt;
  }

  authorize(context) {
    const who = identityOf(this.ask(() => this.store.authority.authorize(context)));
    return who || refuse('AUTHORITY_REVOKED', 'the caller is nobody');
  }

  bindingTaken(row) {
    const { projectId, projectControlDomainId, runId } = row.reservation;
    return this.state.reservations.some((other) => other !== row
      && ['committed', 'orphan-suspect'].includes(other.reservation.state)
      && other.reservation.projectId === projectId && other.reservation.runId === runId
      && other.reservation.projectControlDomainId === projectControlDomainId);
  }

  publish(recordedAt, operation) {
    const { store, state } = this;
    if (this.before === JSON.stringify(content(state, store.epoch))) return;
    store.rename();
    if (this.look() >= this.expiresAt) refuse('AUTHORITY_REVOKED', 'the lease has run out');
    store.stillOpen();
    state.fencingEpoch = store.epoch;
    state.commitSeq += 1;
    state.lastWallTime = recordedAt;
    state.audit.push({ commitSeq: state.commitSeq, epoch: store.epoch, recordedAt, action: operation,
      principal: this.identity ? this.identity.principal : 'coordinator-bootstrap' });
    store.file.publish(state);
  }
}

// What a publication is for: nothing is written while this stays the same.
const content = (state, epoch) => [epoch, state.maxActiveRuns, state.reservations, state.commands];

module.exports = { Store, StoreError };
