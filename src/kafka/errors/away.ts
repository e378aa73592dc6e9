import { brokerErrorType } from './broker-error.ts';

/** kafkajs' names of errors where no broker, or not the right one, responds. */
const names: ReadonlySet<string> = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSBrokerNotFound',
  'KafkaJSNoBrokerAvailableError',
  'KafkaJSGroupCoordinatorNotFound',
  'KafkaJSLockTimeout',
]);

/** Errors of brokers while a group or a partition moves to another one. */
const types: ReadonlySet<string> = new Set([
  'NOT_COORDINATOR_FOR_GROUP',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
  'NOT_LEADER_FOR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
]);

/** Refusals of logins that are tried again. */
const late = new WeakSet<Error>();

/** True of an error that is over when a broker is back or another one has taken over. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const type = brokerErrorType(error);
  // A broker's own word counts, and not the error that its response was made of.
  if (type !== undefined) return types.has(type);
  return names.has(error.name) || late.has(error) || isAway(error.cause);
}

/** True where a request has certainly not been sent: there was no connection to send it on, or no login. */
export function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (late.has(error)) return true;
  if (error.name !== 'KafkaJSConnectionError') return wasNeverSent(error.cause);
  const code = 'code' in error ? error.code : undefined;
  return code === 'ECONNREFUSED' || error.message === 'Not connected';
}

/** True of an error whose cause is the refusal of a login that is tried again. */
export function isRefusedLate(error: unknown): boolean {
  return error instanceof Error && (late.has(error) || isRefusedLate(error.cause));
}

/** Marks the refusal of a login. kafkajs then tries again: it looks at an error, or at the innermost cause. */
export function makeRetriable(error: unknown): void {
  if (!(error instanceof Error)) return;
  late.add(error);
  Object.assign(error, { retriable: true });
  makeRetriable(error.cause);
}
