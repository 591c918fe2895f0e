/**
 * `platform-node network merge`: checks the requests of all members, puts their keys into the draft, and signs
 * the first block, once. Nothing is written before all is right.
 */
import { join } from 'node:path';
import { files } from '../../../adapters/files.ts';
import { utf8 } from '../../../base/bytes.ts';
import { editGenesis } from '../../../node/config/edit-genesis.ts';
import { signedGenesis } from '../../sign-genesis.ts';
import { CliError } from '../../terminal/exit.ts';
import { printJson, say, warn } from '../../terminal/output.ts';
import { checksumOf, configOfGenesis, type GenesisFile, readGenesis } from './genesis-file.ts';
import { addressOf, GENESIS_FILE, publicKeyOf } from './network-texts.ts';
import { type Request, readRequest } from './request.ts';

export async function merge(dir: string, sources: readonly string[]): Promise<void> {
  const genesis = await readGenesis(dir);
  const { missing: names } = genesis;
  if (names.length === 0) {
    throw new CliError(
      `${genesis.path} is merged already: another signature would found another network`,
    );
  }
  const copies = copiesOf(dir, genesis, names);
  const requests = await checkedRequests(sources, genesis);
  const members = names.map((name) => requests.get(name)!);
  const text = members.reduce(
    (edited, { name, address, publicKey }) =>
      edited.replaceAll(addressOf(name), address).replaceAll(publicKeyOf(name), publicKey),
    genesis.text,
  );
  const signed = await signedGenesis(
    await configOfGenesis(text, members[0]!.address, clockVariables()),
  );
  const whole = editGenesis(text, signed);
  if (whole === undefined) throw new CliError(`${genesis.path} has no genesis section`);
  const config = await configOfGenesis(whole, members[0]!.address);
  // First of all, since from then on there is one signature; the founder sends this file to the members anyway.
  files.replace(genesis.path, utf8(whole));
  for (const copy of copies) {
    try {
      files.replace(copy, utf8(whole));
    } catch (cause) {
      warn(`${copy} stays a draft: ${(cause as Error).message}`);
    }
  }
  printJson({ genesis: genesis.path, checksum: checksumOf(config), ...signed, members });
  say(`Send ${genesis.path} to all members, who compare: platform-node network checksum`);
}

/** The first block has a time. Only where that comes from is a matter of this machine. */
const clockVariables = (): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('NODE_NTP_')));

/** The drafts in the folders of members that are still here. */
function copiesOf(dir: string, { text, path }: GenesisFile, names: readonly string[]): string[] {
  const copies = names.map((name) => join(dir, name, GENESIS_FILE));
  return copies.filter((copy) => {
    const bytes = files.read(copy);
    if (bytes === undefined) return false;
    if (new TextDecoder().decode(bytes) === text) return true;
    throw new CliError(`${copy} and ${path} differ: the members must have one draft`);
  });
}

/** By name; CliError with all that is wrong. */
async function checkedRequests(
  sources: readonly string[],
  genesis: GenesisFile,
): Promise<ReadonlyMap<string, Request>> {
  const wrongs: string[] = [];
  const found = new Map<string, Request & { readonly source: string }>();
  for (const source of sources) {
    try {
      const request = await readRequest(source, genesis);
      const twice = [...found.values()].find(
        ({ name, publicKey }) => name === request.name || publicKey === request.publicKey,
      );
      if (!genesis.missing.includes(request.name)) {
        wrongs.push(`${source}: the draft has no member '${request.name}'`);
      } else if (twice !== undefined) {
        const what = twice.name === request.name ? `'${request.name}' asks` : 'this key asks';
        wrongs.push(`${source}: ${what} twice, here and in ${twice.source}`);
      } else found.set(request.name, { ...request, source });
    } catch (cause) {
      if (!(cause instanceof CliError)) throw cause;
      wrongs.push(cause.message);
    }
  }
  const absent = genesis.missing.filter((name) => !found.has(name));
  if (absent.length > 0) wrongs.push(`no request of ${absent.join(', ')}`);
  if (wrongs.length > 0) throw new CliError(wrongs.join('\n'));
  return new Map([...found].map(([name, { source: _, ...request }]) => [name, request]));
}
