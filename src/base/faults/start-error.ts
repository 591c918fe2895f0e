/**
 * A part of the node that cannot start. The message is the one line that an operator reads: the
 * part, the settings that affect it, the reason, and what to do.
 */
export class StartError extends Error {
  override name = 'StartError';

  constructor(part: string, settings: string, cause: unknown, remedy: string) {
    super(`${part} (${settings}): ${reasonOf(cause)}; ${remedy}`, { cause });
  }

  /** Of an address where somebody else may listen. */
  static ofAddress(part: string, settings: string, cause: unknown): StartError {
    const remedy = 'stop that process or choose another address or port';
    return new StartError(part, settings, cause, remedy);
  }

  /**
   * Of a file or folder. Where the system refuses access, its content may be sound: nothing is to
   * replace it.
   */
  static ofFile(part: string, settings: string, cause: unknown, remedy: string): StartError {
    const isRefused = chainOf(cause).some(({ code }) => ACCESS.has(String(code)));
    return new StartError(part, settings, cause, isRefused ? REMEDY_ACCESS : remedy);
  }
}

const ACCESS: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);
const REMEDY_ACCESS = 'make it readable and writable for this user';

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENOENT: 'it does not exist',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a file is in its place',
  ECONNREFUSED: 'nothing answers there (ECONNREFUSED)',
  ENOTFOUND: 'the host is not known',
};

/** Plain words for errors of addresses and files; the first line of any other error. */
function reasonOf(cause: unknown): string {
  const known = chainOf(cause).flatMap(({ code }) => REASONS[String(code)] ?? [])[0];
  const [line = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  // A message that the system made says less than its code.
  const isPlain = typeof cause === 'object' && cause !== null && !('code' in cause);
  return known === undefined ? line : isPlain && line !== '' ? `${line}: ${known}` : known;
}

interface Coded {
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** An error, its causes, and the errors that it contains. */
function chainOf(cause: unknown): readonly Coded[] {
  if (typeof cause !== 'object' || cause === null) return [];
  const { cause: inner, errors } = cause as Coded;
  return [cause, ...chainOf(inner), ...(Array.isArray(errors) ? errors.flatMap(chainOf) : [])];
}
