/** Meanings of OpenSSL's and Node's names for a failed handshake. */
const explanations: readonly { readonly signs: readonly RegExp[]; readonly means: string }[] = [
  {
    signs: [
      /ERR_OSSL_(PEM|ASN1|X509|UNSUPPORTED)/,
      /(PEM|DECODER) routines|no start line|key values mismatch/i,
    ],
    means: 'ca_file, cert_file and key_file must be PEM, and the key that of the certificate',
  },
  {
    signs: [/ALTNAME_INVALID|does not match certificate/i],
    means: "the server's certificate is for another name than the one we connect to",
  },
  {
    signs: [/CERT_HAS_EXPIRED|certificate has expired/i],
    means: "the server's certificate has expired",
  },
  {
    signs: [/CERT_NOT_YET_VALID|not yet valid/i],
    means: "the server's certificate is not valid yet",
  },
  {
    signs: [
      /SELF_SIGNED|LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE/,
      /self.signed certificate|unable to verify the first|unable to get .*issuer/i,
      /certificate signature failure/i,
    ],
    means: "the server's certificate is not signed by an authority that we trust",
  },
  {
    signs: [
      /alert (certificate|bad certificate|unknown ca|handshake failure|access denied)/i,
      /CERTIFICATE_REQUIRED|ALERT_(BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE)/,
    ],
    means: 'the server wants a client certificate that it trusts (cert_file, key_file)',
  },
  {
    signs: [/EPROTO|WRONG_VERSION_NUMBER|wrong version|packet length too long|before secure TLS/i],
    means: 'the server does not speak TLS at this port',
  },
];

/**
 * Explains why a TLS handshake failed, as the end of a sentence; undefined if TLS is not the cause. Codes and
 * messages of the error and its causes are searched, as libraries keep one or the other.
 */
export function tlsFailure(error: unknown): string | undefined {
  let current: unknown = error;
  for (let depth = 0; current instanceof Error && depth < 8; depth++, current = current.cause) {
    const text = `${'code' in current ? String(current.code) : ''} ${current.message}`;
    const found = explanations.find(({ signs }) => signs.some((sign) => sign.test(text)));
    if (found !== undefined) return found.means;
  }
  return undefined;
}
