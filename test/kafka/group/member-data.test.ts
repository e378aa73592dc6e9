import kafkajs from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { decodeMember, encodeMemberData } from '../../../src/kafka/group/member-data.ts';

const { MemberMetadata } = kafkajs.AssignerProtocol;
const member = (userData: Buffer) =>
  decodeMember('m', MemberMetadata.encode({ version: 0, topics: ['t'], userData }));

describe('data of a member', () => {
  it.each([[{ storeId: 'ab12', sinceMs: 5 }], [{ storeId: 'ab12', leads: true }], [{}]])(
    'is read as it was written: %j',
    (data) => {
      expect(member(encodeMemberData(data))).toMatchObject({ topics: ['t'], data });
    },
  );

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['the byte that leaders of versions before had', Buffer.of(1)],
    ['another program’s', Buffer.from('{"v":"other","storeId":"ab12"}')],
    ['no JSON', Buffer.from('{"v":"tailmark/1"')],
    ['a wrong type', Buffer.from('{"v":"tailmark/1","storeId":7}')],
  ])('is none where it is %s', (_, bytes) => {
    expect(member(bytes)).toEqual({ memberId: 'm', topics: ['t'], data: {} });
  });

  it('is none of a member that has not joined', () => {
    expect(decodeMember('m', Buffer.alloc(0))).toEqual({ memberId: 'm', topics: [], data: {} });
  });
});
