import { describe, expect, it } from 'vitest';
import { AnswerPace } from '../../../../src/roles/serve/http/answer-pace.ts';

const mebibyte = 1024 * 1024;

/** A pace at a time that stands, and how long each answer waited. */
function paceAt() {
  const time = { ms: 1_000 };
  let sleptMs = 0;
  const pace = new AnswerPace({
    elapsedMs: () => time.ms,
    sleep: async (ms) => {
      sleptMs = ms;
    },
  });
  const waited = async (client: string, mebibytes: number) => {
    sleptMs = 0;
    await pace.turn(client, mebibytes * mebibyte);
    return sleptMs;
  };
  return { time, waited };
}

describe('AnswerPace', () => {
  it('lets a client have 32 MiB at once, and 16 MiB a second from then on', async () => {
    const { time, waited } = paceAt();
    expect([await waited('ann', 30), await waited('ann', 4)]).toEqual([0, 0]);
    expect([await waited('ann', 2), await waited('ann', 2)]).toEqual([125, 250]);
    time.ms += 250;
    expect(await waited('ann', 2)).toBe(125);
    time.ms += 60_000;
    expect([await waited('ann', 32), await waited('ann', 1)]).toEqual([0, 0]);
  });

  it('holds up nobody else', async () => {
    const { waited } = paceAt();
    for (let i = 0; i < 40; i++) await waited('ann', 2);
    expect(await waited('bob', 2)).toBe(0);
  });

  it('refuses what would come more than 8 s late, and counts nothing of it', async () => {
    const { time, waited } = paceAt();
    await waited('ann', 32 + 8 * 16);
    expect(await waited('ann', 1)).toBe(8_000);
    await expect(waited('ann', 1)).rejects.toMatchObject({ status: 503, retryAfterSeconds: 5 });
    time.ms += 1_000;
    expect(await waited('ann', 1)).toBe(7_062.5);
  });
});
