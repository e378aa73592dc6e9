import { OperatorError } from '../base/operator-error.ts';

const unwritable = /^(EACCES|EPERM|EROFS|ENOTDIR|EEXIST|ENOSPC|EDQUOT|ENAMETOOLONG|ELOOP)$/;

/** Converts file system errors to TAILMARK_PATH_UNWRITABLE; returns other errors unchanged. */
export function pathError(error: unknown, path: string, hint: string): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === undefined || !unwritable.test(code)) return error;
  return new OperatorError(
    'TAILMARK_PATH_UNWRITABLE',
    `Cannot keep data: the directory must be writable; it is ${path} (${code})`,
    { hint, cause: error },
  );
}
