/** Bytes of a response that are read. */
export const maxTextBytes = 4_096;

/** A POST to a receiver. */
export interface HttpPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A response, or why there is none. */
export type HttpResult =
  | {
      readonly status: number;
      /** At most the first 4 kB of the body, as text. */
      readonly text: string;
      /** True where the body broke off, or did not end in time. */
      readonly isCut?: true;
      /** `Retry-After`, in seconds or as a date, at most 15 minutes. */
      readonly retryAfterMs: number | undefined;
      /** The server's own clock, by its header `Date`. */
      readonly dateMs: number | undefined;
    }
  /** No response: no connection, time-out, refused address, TLS. */
  | {
      /** Holds no path, query or login of the address. */
      readonly error: string;
      /** True where the request may have arrived: there was a connection. */
      readonly wasSent?: true;
    };

/** Posts to one receiver. Never follows redirects, never connects to link-local or metadata addresses. */
export interface HttpSender {
  post(request: HttpPost): Promise<HttpResult>;
  close(): Promise<void>;
}
