/**
 * An error response by RFC 9457: `{type, title, status, detail}`.
 *
 * @param detail what happened, and what to do; a sentence for people.
 */
export class Problem extends Error {
  readonly status: 400 | 401 | 403 | 404 | 503;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: Problem['status'], detail: string, retryAfterSeconds?: number) {
    super(detail);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const titles: Readonly<Record<Problem['status'], string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  503: 'Service Unavailable',
};

export function problemBody({ status, message }: Problem) {
  return { type: 'about:blank', title: titles[status], status, detail: message };
}
