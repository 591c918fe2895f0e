/**
 * `platform-node network init`: a folder for each member, without keys. Beside the folders lies the draft of
 * the genesis, which all of them have.
 */
import { join } from 'node:path';
import { files } from '../../../adapters/files.ts';
import { utf8 } from '../../../base/bytes.ts';
import { emptyFolder } from '../../terminal/empty-folder.ts';
import { CliError, EXIT } from '../../terminal/exit.ts';
import { printJson, say } from '../../terminal/output.ts';
import { genesisDigest, signedConfigOf } from './genesis-file.ts';
import { memberFiles } from './member-files.ts';
import {
  addressOf,
  GENESIS_FILE,
  genesisText,
  nodeText,
  type Own,
  publicKeyOf,
  rolesOf,
  WAITING_MINERS_MIN,
} from './network-texts.ts';
import { type Organisation, placeOf } from './organisations.ts';

export interface InitFlags {
  readonly org: readonly Organisation[];
  readonly out: string;
  /** The folder of a member of a network that exists. */
  readonly from?: string;
  readonly consensus?: 'poa' | 'pos';
  readonly crypto?: 'international' | 'national';
  readonly chainId?: string;
  readonly round?: number;
  /** False with --no-finality. */
  readonly finality: boolean;
  readonly tls?: true;
}

const CHAIN_ID = 'T';

export async function init(flags: InitFlags): Promise<void> {
  const { org, out, from } = flags;
  const network = from === undefined ? founded(flags) : await existing(from, flags);
  const { genesis, knownPeers } = network;
  const folder = emptyFolder(out);
  const places = org.map(placeOf);
  const written = org.map((one): readonly [string, Own] => [
    join(folder, one.name),
    {
      ...one,
      declared: placeOf(one),
      knownPeers: [...knownPeers, ...places].filter((place) => place !== placeOf(one)),
      tls: flags.tls === true,
      goesOn: from === undefined && org.length < WAITING_MINERS_MIN && hasFinality(flags),
    },
  ]);
  for (const [dir, own] of written) writeMember(dir, own, genesis, from !== undefined);
  if (from === undefined) write(join(folder, GENESIS_FILE), genesis);
  printJson({
    folder,
    draft: genesisDigest(utf8(genesis)),
    members: written.map(([dir, { name, declared }]) => ({ name, declared, folder: dir })),
  });
  say('Next: send each folder to its organisation, which follows the README in it');
}

interface Founding {
  /** Text of the shared part. */
  readonly genesis: string;
  readonly knownPeers: readonly string[];
}

function founded(flags: InitFlags): Founding {
  const { org, consensus = 'poa', crypto, chainId = CHAIN_ID, round } = flags;
  if (!/^[A-Za-z0-9]$/.test(chainId)) {
    throw new CliError(`--chain-id '${chainId}' must be one letter or digit`, EXIT.usage);
  }
  const members = org.map(({ name }, index) => ({
    address: addressOf(name),
    publicKey: publicKeyOf(name),
    roles: rolesOf(index),
  }));
  const genesis = genesisText({
    platformCrypto: crypto !== 'national',
    consensus,
    roundMs: round,
    finality: hasFinality(flags),
    chainId,
    members,
  });
  return { genesis, knownPeers: [] };
}

const hasFinality = ({ finality, consensus = 'poa' }: InitFlags): boolean =>
  finality && consensus === 'poa';

/** What a member knows of its network, for one that joins it. */
async function existing(from: string, flags: InitFlags): Promise<Founding> {
  const { consensus, crypto, chainId, round, finality } = flags;
  const chosen = [consensus, crypto, chainId, round, finality ? undefined : finality];
  if (chosen.some((given) => given !== undefined)) {
    throw new CliError(
      'With --from the network has been chosen: it takes --org, --out and --tls',
      EXIT.usage,
    );
  }
  const { config, text } = await signedConfigOf(from);
  const { declaredAddress, knownPeers } = config.network;
  const own = declaredAddress === undefined ? [] : [declaredAddress];
  return { genesis: text, knownPeers: [...new Set([...own, ...knownPeers])] };
}

function writeMember(dir: string, own: Own, genesis: string, isFounded: boolean): void {
  write(join(dir, 'node.conf'), nodeText(own));
  write(join(dir, GENESIS_FILE), genesis);
  for (const [name, text] of memberFiles(own, isFounded)) write(join(dir, name), text);
}

function write(path: string, text: string): void {
  try {
    files.replace(path, utf8(text));
  } catch (cause) {
    throw new CliError(`${path} cannot be written: ${(cause as Error).message}`);
  }
}
