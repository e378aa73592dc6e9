/**
 * An error response by RFC 9457: `{type, title, status, detail}`, and for a name that is not stored
 * `{unknown, known}`.
 */
export class Problem extends Error {
  readonly status: keyof typeof titles;
  readonly retryAfterSeconds: number | undefined;
  readonly names: ProblemNames | undefined;
  /** Methods that the path takes, where it does not take this one. */
  readonly allow: readonly string[] | undefined;

  /** @param detail what happened, and what to do; a sentence for people. */
  constructor(
    status: Problem['status'],
    detail: string,
    retryAfterSeconds?: number,
    names?: ProblemNames,
    allow?: readonly string[],
  ) {
    super(detail);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
    this.names = names;
    this.allow = allow;
  }

  /** @param allow methods that the path takes */
  static ofMethod(method: string | undefined, path: string, allow: readonly string[]): Problem {
    const detail = `${path} takes ${allow.join(', ')}; this is ${method}.`;
    return new Problem(405, detail, undefined, undefined, allow);
  }
}

/** The kind of a name that is not stored, and the names that are there, the most similar one first. */
interface ProblemNames {
  readonly unknown: string;
  readonly known: readonly string[];
}

const titles = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  417: 'Expectation Failed',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const;

/** The response that a problem is, by whatever writes it. Secrets are not hidden yet. */
export function responseOfProblem(problem: Problem) {
  const { status, message: detail, names, retryAfterSeconds, allow } = problem;
  const title = titles[status];
  return {
    ...{ status, title },
    body: `${JSON.stringify({ type: 'about:blank', title, status, detail, ...names })}\n`,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
      ...(allow !== undefined && { allow: allow.join(', ') }),
    },
  };
}
