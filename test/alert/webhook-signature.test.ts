import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { webhookSignature } from '../../src/alert/webhook-signature.ts';

const message = { id: 'msg_1', timestampSeconds: 1_700_000_000, body: '{"a":1}' };

function expected(key: Buffer): string {
  return `v1,${createHmac('sha256', key).update('msg_1.1700000000.{"a":1}').digest('base64')}`;
}

describe('webhookSignature', () => {
  it('decodes the base64 of a whsec_ secret', () => {
    const key = Buffer.from('0123456789abcdef0123456789abcdef', 'utf8');
    const secret = `whsec_${key.toString('base64')}`;
    expect(webhookSignature({ ...message, secret })).toBe(expected(key));
  });

  it('uses any other secret as its bytes', () => {
    expect(webhookSignature({ ...message, secret: 'pass' })).toBe(expected(Buffer.from('pass')));
  });

  it('changes with the id, the time and the body', () => {
    const of = (changed: Partial<typeof message>) =>
      webhookSignature({ secret: 's', ...message, ...changed });
    const all = [of({}), of({ id: 'msg_2' }), of({ timestampSeconds: 1 }), of({ body: '{}' })];
    expect(new Set(all).size).toBe(4);
  });
});
