/** The token of an `Authorization` header; undefined without one. Schemes have no case (RFC 9110, 11.1). */
export function bearerTokenOf(authorization: string | undefined): string | undefined {
  return /^bearer +(.+)$/i.exec(authorization ?? '')?.[1];
}
