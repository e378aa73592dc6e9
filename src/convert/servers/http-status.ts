import type { Status } from '../../base/statuses.ts';

/** Status of a request by its HTTP code. A client's own error is an answer like any other. */
export function statusOfHttp(code: number): Status {
  if (code === 499) return 'cancelled';
  if (code === 408 || code === 504) return 'timeout';
  return code === 0 || code >= 500 ? 'error' : 'ok';
}
