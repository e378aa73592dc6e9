/** A proxy's action on requests that start while the fault is in force. */
export type ProxyFault =
  /** Every connection ends, and so does each new one. */
  | { readonly kind: 'refuse' }
  /** A request is truncated after so many of its bytes, without a response. */
  | (Picked & { readonly kind: 'cut'; readonly afterBytes: number })
  /** A request stops after so many of its bytes, and continues when the fault is over. */
  | (Picked & { readonly kind: 'stall'; readonly afterBytes: number })
  /** A request is delivered and done; its response is replaced by a closed connection. */
  | (Picked & { readonly kind: 'swallow' })
  /** All bytes are delayed, each way and piece by piece. */
  | (Picked & { readonly kind: 'delay'; readonly delayMs: number });

/** Requests that a fault hits. */
interface Picked {
  /** Text in the first piece of a request, the head of HTTP; '' matches all. */
  readonly containing: string;
  /** Most requests. */
  readonly times: number;
}
