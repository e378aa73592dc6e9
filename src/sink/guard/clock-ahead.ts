/**
 * How far the local clock is ahead of a server's, in milliseconds; negative when it is behind. The server
 * read its clock at some time between request and response. So this is the least difference that explains
 * the response, and 0 where none is needed.
 */
export function clockAheadMs(requestMs: number, serverMs: number, responseMs: number): number {
  if (serverMs < requestMs) return requestMs - serverMs;
  return serverMs > responseMs ? responseMs - serverMs : 0;
}
