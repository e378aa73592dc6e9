import type { Context } from 'hono';
import { knownSecrets } from '../../base/telemetry/known-secrets.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import { Problem, responseOfProblem } from './problem.ts';

/** Responds with text that nobody may keep. */
export function respondText(context: Context, status: 200 | 403 | 503, text: string): Response {
  const headers = { 'content-type': 'text/plain', 'cache-control': 'no-store' };
  return context.body(knownSecrets.hide(text), status, headers);
}

export function respondProblem(context: Context, problem: Problem): Response {
  const { status, body, headers } = responseOfProblem(problem);
  return context.body(knownSecrets.hide(body), status, headers);
}

/** Responds to a request that no route takes: all but the API is only read. @param hint the paths that there are */
export function respondUnknown(context: Context, hint: string): Response {
  const { method, path } = context.req;
  const isRead = method === 'GET' || method === 'HEAD';
  const detail = `${path} is no path of this process: ${hint}.`;
  const problem = isRead ? new Problem(404, detail) : Problem.ofMethod(method, path, readMethods);
  return respondProblem(context, problem);
}

const readMethods = ['GET', 'HEAD'] as const;

/** Responds to a request in which something of ours went wrong. Whoever asks need not know what; the log says it. */
export function respondFault(context: Context, error: unknown, log: Logger): Response {
  log.error({ err: error, path: context.req.path }, 'a request failed');
  return respondProblem(context, faultProblem());
}

export function faultProblem(): Problem {
  return new Problem(500, 'No answer. The log of this process says why.');
}
