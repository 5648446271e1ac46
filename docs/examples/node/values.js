'use strict';
// What counts as a text, an id and a number; and the forms of what the authority answers.

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isInteger = (value, least) => Number.isSafeInteger(value) && value >= least;
const isSound = (value) => typeof value === 'string' && [...value].length <= 4096 && !/\p{Surrogate}/u.test(value);
const isText = (value) => isSound(value) && value !== '';
const isTelling = (value) => isSound(value) && value.trim() !== '';
const isUuid = (value) => typeof value === 'string' && UUID.test(value);

function leaseOf(value) {
  const keys = ['holderId', 'fencingEpoch', 'endpoint', 'expiresAt'];
  if (!isObject(value) || Object.keys(value).length !== 4 || !keys.every((key) => key in value)) return null;
  const fits = isText(value.holderId) && isText(value.endpoint)
    && isInteger(value.fencingEpoch, 0) && isInteger(value.expiresAt, 0);
  return fits ? value : null;
}

function identityOf(value) {
  if (!isObject(value) || !isTelling(value.principal) || !isTelling(value.ownerId)) return null;
  if (typeof value.operator !== 'boolean') return null;
  return { principal: value.principal, ownerId: value.ownerId, operator: value.operator };
}

const namesARun = (value) => isObject(value) && isText(value.reservationId) && isText(value.projectId)
  && isText(value.projectControlDomainId) && isText(value.runId);

const provesAdmission = (value) => namesARun(value)
  && isInteger(value.projectAdmitCommitSeq, 1) && isInteger(value.runVersion, 0);

// 'admitted', 'abandoned', or null where nothing is proven.
function verdictOf(value) {
  if (!namesARun(value)) return null;
  if (!('status' in value)) return provesAdmission(value) ? 'admitted' : null;
  return value.status === 'abandoned' && isInteger(value.abandonmentCommitSeq, 1)
    && isInteger(value.runVersion, 0) ? 'abandoned' : null;
}

// Whether a proof of release is whole, and shows a run that is over, or parked.
function showsAnEnd(proof) {
  if (!provesAdmission(proof) || !isTelling(proof.proofId) || !isText(proof.status)) return false;
  if ('stage' in proof && !isText(proof.stage)) return false;
  const parked = proof.status === 'paused' && proof.stage === 'parked' && proof.requiresReadmission === true;
  return parked || ['completed', 'failed', 'blocked', 'cancelled'].includes(proof.status);
}

const showsNoLife = (proof) => proof.providerNoLiveProcessTree === true && proof.noAmbiguousJobs === true
  && proof.reconcileTimeoutOnly === false;

const names = (answer, reservation) => ['reservationId', 'projectId', 'projectControlDomainId', 'runId']
  .every((key) => answer[key] === reservation[key]);

module.exports = { isInteger, isSound, isTelling, isText, isUuid, leaseOf, identityOf, verdictOf, showsAnEnd,
  showsNoLife, names };
