import { OperatorError } from '../../../base/operator-error.ts';
import { errorCodeOf } from '../../../sink/clickhouse.ts';
import { Problem } from '../api/problem.ts';

/** ClickHouse error numbers of a server or a user with too much to do: time, memory, queries at once, quota. */
const busyCodes = new Set(['159', '241', '202', '201', '307']);

/**
 * Why ClickHouse gave no answer, without addresses, users or queries: whoever reads the dashboard need not know
 * them. The log has the error.
 */
export function outageProblem(error: unknown): Problem {
  const code = errorCodeOf(error);
  if (busyCodes.has(code)) {
    const detail = `ClickHouse has too much to do (its error ${code}). Ask for a shorter range, or again later.`;
    return new Problem(503, detail, 10);
  }
  if (/^\d+$/.test(code)) {
    const detail = `ClickHouse could not answer (its error ${code}). The log of this process says why.`;
    return new Problem(503, detail, 30);
  }
  if (error instanceof OperatorError) {
    return new Problem(503, `No answer: ${error.code}. The log of this process says why.`, 30);
  }
  const isNetwork = /^E[A-Z]+$/.test(code) || /Timeout error|socket hang up/.test(String(error));
  if (isNetwork) return new Problem(503, 'ClickHouse does not respond.', 5);
  return new Problem(503, 'No answer. The log of this process says why.', 30);
}
