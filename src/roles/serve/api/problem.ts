/**
 * An error response by RFC 9457: `{type, title, status, detail}`, and for a name that is not stored `{unknown, known}`.
 */
export class Problem extends Error {
  readonly status: 400 | 401 | 403 | 404 | 503;
  readonly retryAfterSeconds: number | undefined;
  readonly names: ProblemNames | undefined;

  /** @param detail what happened, and what to do; a sentence for people. */
  constructor(
    status: Problem['status'],
    detail: string,
    retryAfterSeconds?: number,
    names?: ProblemNames,
  ) {
    super(detail);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
    this.names = names;
  }
}

/** What a name that is not stored is of, and the names that are there, the most similar one first. */
interface ProblemNames {
  readonly unknown: string;
  readonly known: readonly string[];
}

const titles: Readonly<Record<Problem['status'], string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  503: 'Service Unavailable',
};

export function problemBody({ status, message, names }: Problem) {
  return { type: 'about:blank', title: titles[status], status, detail: message, ...names };
}
