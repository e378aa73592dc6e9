/** What a proxy does to the requests that begin while the fault is in force. */
export type ProxyFault =
  /** Nobody is there: every connection ends, and so does each new one. */
  | { readonly kind: 'refuse' }
  /** A request is cut short, after so many of its bytes; nobody answers. */
  | (Picked & { readonly kind: 'cut'; readonly afterBytes: number })
  /** A request comes to a halt after so many of its bytes, and goes on when the fault is over. */
  | (Picked & { readonly kind: 'stall'; readonly afterBytes: number })
  /** A request is delivered and done; of its answer nothing comes back but a closed connection. */
  | (Picked & { readonly kind: 'swallow' })
  /** Whatever passes takes so much longer, each way and piece by piece. */
  | (Picked & { readonly kind: 'delay'; readonly delayMs: number });

/** Which requests a fault hits. */
interface Picked {
  /** Text in the first piece of a request, the head of HTTP; '' is in all of them. */
  readonly containing: string;
  /** How many requests at most. */
  readonly times: number;
}
