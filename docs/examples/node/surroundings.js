'use strict';
// The surroundings of a store under test, as docs/protocol.md tells them: take this file as it is.
//
// It keeps clock, lease, identities and the projects' ledgers, answers the authority's callbacks from them, and
// lets disturbances strike. It knows nothing of the store but how to make one of its errors.

const IDS = ['reservationId', 'projectId', 'projectControlDomainId', 'runId'];
const ids = (from) => Object.fromEntries(IDS.map((name) => [name, from[name]]));

class Surroundings {
  constructor(told, { refusal, reenter, close }) {
    Object.assign(this, structuredClone(told));
    this.refusal = refusal; // code => the store's own error
    this.reenter = reenter; // (host, context) => calls the store's snapshot
    this.close = close; // host => closes it
    this.begin([]);
  }

  // A request starts: arrivals count from 1 again, and nothing has struck yet.
  begin(disturbances) {
    this.disturbances = disturbances;
    this.arrivals = {};
    this.struck = [];
  }

  // What happens between requests, or meanwhile. False if `event.do` is no event.
  happen(event) {
    const fact = this.facts[event.reservationId];
    switch (event.do) {
      case 'advanceClock': this.clock += event.ms; return true;
      case 'setLease': this.lease = event.lease; return true;
      case 'setIdentity': this.identities[event.context] = event.identity; return true;
      case 'close': this.close(event.host); return true;
      case 'admit':
        this.record(event, { kind: 'admitted', runVersion: 1, status: 'running', stage: 'running',
          requiresReadmission: false, quiescent: false });
        return true;
      case 'abandon': this.record(event, { kind: 'abandoned', runVersion: 0 }); return true;
      case 'finish':
        Object.assign(fact, { status: event.status, stage: 'terminal', runVersion: fact.runVersion + 1 });
        return true;
      case 'park':
        Object.assign(fact, { status: 'paused', stage: 'parked', requiresReadmission: true,
          runVersion: fact.runVersion + 1 });
        return true;
      case 'quiesce': fact.quiescent = true; return true;
      default: return false;
    }
  }

  record(event, rest) {
    this.projectSeq += 1;
    this.facts[event.reservationId] = { ...ids(event), commitSeq: this.projectSeq, ...rest };
  }

  // One arrival at a moment: what strikes there strikes. Answers {value} if that takes the truth's place.
  arrive(moment, host, context) {
    const nth = this.arrivals[moment] = (this.arrivals[moment] || 0) + 1;
    let decisive = null;
    this.disturbances.forEach((one, index) => {
      if (one.moment !== moment || one.nth !== nth) return;
      this.struck.push(index);
      if ('happens' in one.effect) this.happen(one.effect.happens);
      else decisive = decisive || one.effect;
    });
    if (decisive === null) return null;
    if ('answers' in decisive) return { value: structuredClone(decisive.answers) };
    if ('reenters' in decisive) return { value: this.reenter(host, context) };
    throw decisive.raises === null ? new Error('the callback failed') : this.refusal(decisive.raises);
  }

  // The authority's callbacks, for one host.
  authority(host, arbitration) {
    const answer = (moment, truth, context) => {
      const said = this.arrive(moment, host, context);
      return said ? said.value : structuredClone(truth());
    };
    const callbacks = {
      readLease: () => answer('read_lease', () => this.lease),
      authorize: (context) => answer('authorize', () => this.identities[context] ?? null, context),
      readAdmission: (row) => answer('read_admission', () => this.admission(row)),
      readRelease: (row) => answer('read_release', () => this.release(row)),
    };
    if (arbitration) {
      callbacks.abandonAdmissionIfAbsent = (row) => answer('abandon_admission_if_absent', () => {
        if (!this.facts[row.reservationId]) this.happen({ ...ids(row), do: 'abandon' });
        return this.admission(row);
      });
    }
    return callbacks;
  }

  // What `dispatch` is given: it prepares a launch, and answers what launches.
  prepare(host, context, reservationId) {
    const said = this.arrive('prepare', host, context);
    if (said) return said.value;
    return () => {
      const told = this.arrive('activation', host, context);
      this.launched.push(reservationId);
      return told ? told.value : `launched:${reservationId}`;
    };
  }

  admission(row) {
    const fact = this.facts[row.reservationId];
    if (!fact) return { status: 'not-admitted', ...ids(row), runVersion: 0 };
    if (fact.kind === 'admitted') {
      return { ...ids(fact), projectAdmitCommitSeq: fact.commitSeq, runVersion: fact.runVersion };
    }
    return { ...ids(fact), status: 'abandoned', abandonmentCommitSeq: fact.commitSeq, runVersion: fact.runVersion };
  }

  release(row) {
    const fact = this.facts[row.reservationId];
    if (!fact || fact.kind !== 'admitted') return null;
    return {
      ...ids(fact), projectAdmitCommitSeq: fact.commitSeq, runVersion: fact.runVersion,
      proofId: `proof-${fact.commitSeq}-${fact.runVersion}`, status: fact.status, stage: fact.stage,
      requiresReadmission: fact.requiresReadmission, providerNoLiveProcessTree: fact.quiescent,
      noAmbiguousJobs: fact.quiescent, reconcileTimeoutOnly: false,
    };
  }
}

module.exports = { Surroundings };
