// Covers src/base/telemetry/secret-spellings.ts.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { knownSecrets } from '../../../src/base/telemetry/known-secrets.ts';
import { loadConfig } from '../../../src/config/load/load-config.ts';
import { maskLogin } from '../../../src/config/secrets/mask-secrets.ts';
import { leaksIn } from '../../e2e/kit/leaks-in.ts';

describe('knownSecrets', () => {
  it('hides a secret as it is, in JSON, in a URL and in base64, wherever it stands there', () => {
    const secret = 'CANARY"of\\this test/ü';
    knownSecrets.remember(secret);
    expect(knownSecrets.hide(`a ${secret}, b ${secret}`)).toBe('a ***, b ***');
    const whole = { text: secret, at: `https://x/?p=${encodeURIComponent(secret)}` };
    expect(knownSecrets.hide(JSON.stringify(whole))).toBe('{"text":"***","at":"https://x/?p=***"}');
    for (const before of ['', 'a', 'ab', 'abc', 'ann:', '\0ann\0']) {
      const base64 = Buffer.from(`${before}${secret}\0`).toString('base64');
      expect(leaksIn(base64)).not.toEqual([]);
      expect(leaksIn(knownSecrets.hide(base64))).toEqual([]);
    }
  });

  it.each([
    ['JSON with \\/', '{"t":"CANARY\\/of+this"}', '{"t":"***"}'],
    ['a form', 't=CANARY%2fof%2bthis&u=1', 't=***&u=1'],
    ['HTML in JSON', '{"t":"<b>CANARY&#x2F;of&#43;this</b>"}', '{"t":"<b>***</b>"}'],
    ['a line break before it', '{"t":"a\\nCANARY/of+this"}', '{"t":"a\\n***"}'],
    ['hex', `x ${Buffer.from('CANARY/of+this').toString('hex').toUpperCase()}.`, 'x ***.'],
    ['two lines', 'x CANARY/\r\n  of+this.', 'x ***.'],
    ['colours', 'x CANARY\u001b[31m/of\u001b[0m+this.', 'x ***.'],
    ['tags', '<p>CANARY<wbr>/of<b>+this</b></p>', '<p>***</b></p>'],
    ['characters that nobody sees', 'CANARY\u200b/of\ufeff+\u034fthis\ufe0f.', '***\ufe0f.'],
    ['HTML without semicolons', 'x CANARY&#47of&#x2bthis.', 'x ***.'],
    ['hex of UTF-16', Buffer.from('CANARY/of+this', 'utf16le').toString('hex'), '***'],
    ['base64 of UTF-16', Buffer.from('CANARY/of+this', 'utf16le').toString('base64'), '***A=='],
    ['base64url', `${Buffer.from('?>?CANARY/of+this').toString('base64url')}`, 'Pz4_***M'],
  ])('hides it in %s', (_where, text, shown) => {
    knownSecrets.remember('CANARY/of+this');
    expect(knownSecrets.hide(text)).toBe(shown);
  });

  it('leaves half an escape nowhere: JSON stays JSON', () => {
    knownSecrets.remember('nCANARY');
    expect(knownSecrets.hide('{"t":"a\\nCANARY"}')).toBe('{"t":"a***"}');
  });

  it('leaves a text without secrets as it is, and what is too short to be one', () => {
    knownSecrets.remember('');
    knownSecrets.remember('kafka');
    expect(knownSecrets.hide('kafka.brokers of kafka')).toBe('kafka.brokers of kafka');
  });

  it('holds for any secret', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 6, maxLength: 60, unit: 'grapheme' }), (secret) => {
        knownSecrets.remember(secret);
        const text = `${JSON.stringify({ secret })} ${secret} ${encodeURIComponent(secret)}`;
        const shown = knownSecrets.hide(text);
        return !shown.includes(secret) && !shown.includes(JSON.stringify(secret));
      }),
      { seed: 7, numRuns: 300 },
    );
  });

  it('knows every secret that a configuration holds, even of one that is refused', () => {
    const files: Record<string, string> = {
      'tailmark.yaml':
        'clickhouse: {password: CANARY-in-the-file}\n' +
        'alert: {webhooks: [{url_file: /run/url, secret_file: /run/secret}]}',
      '/run/url': 'https://ann:CANARY-login@hooks.example/CANARY-path-token/x?t=CANARY-query\n',
      '/run/secret': 'CANARY-webhook\n',
    };
    const env = { TAILMARK_KAFKA_SASL_PASSWORD: 'CANARY-kafka' };
    expect(() => loadConfig({ env, readFile: (path) => files[path] ?? '' })).toThrow(
      'clickhouse.password must not stand in the file',
    );
    const quoted =
      'POST /CANARY-path-token/x?t=CANARY-query {"token":"CANARY-query"} CANARY-login ' +
      'CANARY-webhook CANARY-kafka CANARY-in-the-file CANARY-path-token';
    expect(leaksIn(quoted)).not.toEqual([]);
    expect(leaksIn(knownSecrets.hide(quoted))).toEqual([]);
  });
});

describe('maskLogin', () => {
  it.each([
    ['http://db:8123', 'http://db:8123'],
    ['http://ann:pass@db:8123', 'http://***@db:8123'],
    ['http://ann:pa/ss@db:8123', 'http://***@db:8123'],
    ['http://ann:p@ss@db:8123', 'http://***@db:8123'],
    ['http://db:8123/?password=pass', 'http://db:8123/?***'],
    ['SASL_SSL://ann:pass@kafka:9092', 'SASL_SSL://***@kafka:9092'],
    ['ann:pass@kafka:9092', '***@kafka:9092'],
    ['https://wiki.example/@team/runbook', 'https://wiki.example/@team/runbook'],
    ['what?', 'what?'],
  ])('%s becomes %s', (text, shown) => {
    expect(maskLogin(text)).toBe(shown);
  });
});
