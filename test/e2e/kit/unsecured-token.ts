/** A JSON Web Token without signature, as Kafka's validator for development accepts it. */
export function unsecuredToken(subject: string, expiresInSeconds: number): string {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const claims = { sub: subject, iat: nowSeconds - 60, exp: nowSeconds + expiresInSeconds };
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part(claims)}.`;
}
