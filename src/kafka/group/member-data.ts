import kafkajs from 'kafkajs';
import { z } from 'zod';

const { AssignerProtocol } = kafkajs;

/** Data that a member of a consumer group sends to the others with its subscription. */
export interface MemberData {
  /** The database that it works for; undefined for one that does not say so. */
  readonly storeId?: string | undefined;
  /** Wall clock at its start. */
  readonly sinceMs?: number | undefined;
  /** True for one that leads. */
  readonly leads?: boolean | undefined;
}

/** A member of a consumer group, by its subscription. */
export interface GroupMember {
  readonly memberId: string;
  readonly topics: readonly string[];
  readonly data: MemberData;
}

const dataSchema = z.object({
  v: z.literal('tailmark/1'),
  storeId: z.string().optional(),
  sinceMs: z.number().optional(),
  leads: z.boolean().optional(),
});

export function encodeMemberData(data: MemberData): Buffer {
  return Buffer.from(JSON.stringify({ v: 'tailmark/1', ...data }));
}

/** @param metadata of a member's protocol; empty for one that has not joined. */
export function decodeMember(memberId: string, metadata: Buffer): GroupMember {
  if (metadata.length === 0) return { memberId, topics: [], data: {} };
  const { topics, userData } = AssignerProtocol.MemberMetadata.decode(metadata) ?? {};
  return { memberId, topics: topics ?? [], data: dataOf(userData) };
}

/** Data of other programs, and of versions that had none, count as none. */
function dataOf(userData: Buffer | null | undefined): MemberData {
  try {
    const { success, data } = dataSchema.safeParse(JSON.parse(String(userData ?? '')));
    return success ? data : {};
  } catch {
    return {};
  }
}
