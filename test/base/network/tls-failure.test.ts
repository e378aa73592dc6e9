import { describe, expect, it } from 'vitest';
import { tlsFailure } from '../../../src/base/network/tls-failure.ts';

describe('tlsFailure', () => {
  it.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', '', 'not signed by an authority'],
    ['', 'Connection error: self-signed certificate', 'not signed by an authority'],
    ['', 'unable to verify the first certificate', 'not signed by an authority'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', '', 'another name'],
    ['CERT_HAS_EXPIRED', '', 'expired'],
    ['CERT_NOT_YET_VALID', '', 'not valid yet'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', '', 'client certificate'],
    ['', 'ssl3_read_bytes:sslv3 alert bad certificate', 'client certificate'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', '', 'does not speak TLS'],
    ['EPROTO', 'write EPROTO', 'does not speak TLS'],
    ['ERR_OSSL_PEM_NO_START_LINE', '', 'must be PEM'],
    ['ERR_OSSL_X509_KEY_VALUES_MISMATCH', '', 'must be PEM'],
  ])('%s "%s" is: %s', (code, message, means) => {
    const error = Object.assign(new Error(message), code === '' ? {} : { code });
    expect(tlsFailure(error)).toContain(means);
    expect(tlsFailure(new Error('failed', { cause: error }))).toContain(means);
  });

  it.each(['connect ECONNREFUSED 127.0.0.1:1', 'SASL PLAIN authentication failed', ''])(
    'does not take "%s" for one',
    (message) => {
      expect(tlsFailure(new Error(message))).toBeUndefined();
    },
  );

  it('ends where causes go round in a circle', () => {
    const error = new Error('failed');
    error.cause = error;
    expect(tlsFailure(error)).toBeUndefined();
  });
});
