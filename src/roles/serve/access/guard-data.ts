import type { Context, Hono, Next } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { Logger } from '../../../base/telemetry/log.ts';
import { Problem } from '../../http/problem.ts';
import { respondFault, respondProblem, respondUnknown } from '../../http/respond.ts';
import { limitedBody } from '../http/read-request.ts';
import { respondError } from '../http/respond-error.ts';
import type { Access } from './access.ts';
import { addLogin, incomingOf } from './login.ts';
import { requireScope } from './model-scope.ts';

const maxBodyBytes = 64 * 1024;

/** True for a path of the API. */
function isDataPath(path: string): boolean {
  return path === '/v1' || path.startsWith('/v1/') || path === '/openapi.json';
}

/**
 * Adds the login, and what every request for data passes before it is answered: access, the limit of its
 * body, the models of its token. Errors, and paths and methods that no route takes, are answered as problems.
 */
export function guardData(app: Hono, access: Access, log: Logger): void {
  app.onError((error, context) =>
    isDataPath(context.req.path)
      ? respondError(context, error, log)
      : respondFault(context, error, log),
  );
  app.notFound((context) => {
    const { path } = context.req;
    if (!isDataPath(path)) {
      return respondUnknown(context, 'see /, /healthz, /readyz, /metrics and /v1');
    }
    const detail = `${path} is no path of this API. /openapi.json has all of them.`;
    return respondProblem(context, new Problem(404, detail));
  });
  addLogin(app, access);
  const byMethod = methodNotAllowed({
    app,
    onMethodNotAllowed: (context, methods) => {
      const { method, path } = context.req;
      return respondProblem(context, Problem.ofMethod(method, path, methods));
    },
  });
  const requireAccess = async (context: Context, next: Next) => {
    const { path } = context.req;
    const request = incomingOf(context);
    const refusal = isDataPath(path) ? access.refusalOfData(request, path) : undefined;
    if (refusal !== undefined) throw refusal;
    context.set('caller', access.callerOf(request));
    await next();
  };
  for (const paths of ['/v1/*', '/openapi.json']) {
    app.use(paths, byMethod, requireAccess, limitedBody(maxBodyBytes), requireScope);
  }
}
