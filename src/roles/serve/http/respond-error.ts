import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { OperatorError } from '../../../base/operator-error.ts';
import type { Logger } from '../../../base/telemetry/log.ts';
import { errorCodeOf } from '../../../sink/client/clickhouse.ts';
import { ImpossibleQuestion } from '../../../views/impossible-question.ts';
import { UnknownName } from '../../../views/unknown-name.ts';
import { Problem } from '../../http/problem.ts';
import { respondProblem } from '../../http/respond.ts';
import { callerOf } from './caller.ts';

/**
 * ClickHouse error numbers of a server or a user with too much to do: time, memory, queries at once, quota.
 */
const busyCodes = new Set(['159', '241', '202', '201', '307']);

/**
 * Responds to a request that failed. An error that the caller did not make is logged; a client that leaves
 * within its request has made one.
 */
export function respondError(context: Context, error: unknown, log: Logger): Response {
  const problem = hidesOthers(context, error) ? unknownToScope() : problemOf(error);
  if (problem.status === 503 && problem !== error && hasArrived(context)) {
    log.warn({ err: error, path: context.req.path }, 'a request failed');
  }
  return respondProblem(context, problem);
}

/** True once the whole request was read. */
function hasArrived({ env }: Context): boolean {
  return (env as Partial<HttpBindings> | undefined)?.incoming?.complete !== false;
}

/** True for an error that names models of which the caller may not learn. */
function hidesOthers(context: Context, error: unknown): boolean {
  return error instanceof UnknownName && !callerOf(context).mayListModels;
}

function unknownToScope(): Problem {
  return new Problem(404, 'What is named has never been stored.');
}

/** The answer to any error: a caller's own mistake in full; of all else only that there is no answer now. */
function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof ImpossibleQuestion) return new Problem(400, error.message);
  if (error instanceof UnknownName) {
    const { thing: unknown, known, message } = error;
    return new Problem(404, message, undefined, unknown && { unknown, known });
  }
  if (error instanceof OperatorError && error.code === 'TAILMARK_USAGE') {
    return new Problem(400, [`${error.message}.`, error.hint].filter(Boolean).join(' '));
  }
  return outageProblem(error);
}

/**
 * The reason why ClickHouse gave no answer, without addresses, users or queries: whoever asks need not know
 * them. The log has the error.
 */
function outageProblem(error: unknown): Problem {
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
