/** Runs a signer in this process (docs/guide/signer.md). */
import { files } from '../../adapters/files.ts';
import { lockFolder, StoreLockedError } from '../../adapters/folder-lock.ts';
import { makeFolder } from '../../adapters/folders.ts';
import { listenSigner } from '../../adapters/signer/signer-socket.ts';
import { systemClock } from '../../adapters/system.ts';
import { concat, equal } from '../../base/bytes.ts';
import { Disposal } from '../../base/disposal.ts';
import { StartError } from '../../base/faults/start-error.ts';
import { SIGNATURE_BYTES } from '../../base/sizes.ts';
import { blockBytesMax } from '../../block/block.ts';
import { headerHash } from '../../block/header.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { consensusHash } from '../../consensus/settings-hash.ts';
import { decodeRecord } from '../../contracts/statuses/status-record.ts';
import { type NoteOwner, readNote } from '../../finality/note-file.ts';
import { networkSettings } from '../../node/config/genesis-section.ts';
import type { Config } from '../../node/config/settings.ts';
import { noteDisk } from '../../node/finality/voter-note.ts';
import { consensusOf } from '../../node/open-consensus.ts';
import { readBlockNote } from '../../signer/block-note.ts';
import { Signer } from '../../signer/signer.ts';
import { SignerConnection } from '../../signer/signer-connection.ts';
import { QUESTION_BYTES_MAX } from '../../signer/signer-messages.ts';
import { openNodeWallet } from '../commands/keystore/open-wallet.ts';
import { ownerPassword } from '../commands/keystore/passwords.ts';
import { cryptographyOfConfig } from '../cryptography.ts';
import { genesisBlock } from '../genesis-block.ts';
import { requireOwnFileSystem } from '../opening/require-own-file-system.ts';
import { CliError, EXIT } from '../terminal/exit.ts';
import { changeLevelBySignal } from '../terminal/log-level.ts';
import { openLog } from '../terminal/open-log.ts';
import { stopRequests } from '../terminal/stop-requests.ts';
import { signerPlace } from './open-key-holder.ts';

/** What a signer remembers. */
export const signerFolder = ({ directory }: Pick<Config, 'directory'>): string =>
  `${directory}/signer`;
export const blockNotePath = (config: Config): string => `${signerFolder(config)}/blocks`;
export const voteNotePath = (config: Config): string => `${signerFolder(config)}/votes`;

/** The folder is this process' own until the lock is released. Throws StartError or CliError. */
export async function lockSigner(config: Config): Promise<{ release(): Promise<void> | void }> {
  const folder = signerFolder(config);
  requireOwnFileSystem(config, folder, 'directory');
  try {
    makeFolder(folder, 0o700);
    return await lockFolder(folder);
  } catch (cause) {
    if (cause instanceof StoreLockedError) throw new CliError(cause.message, EXIT.locked);
    const remedy = 'make that folder writable for this user, or choose another one';
    throw new StartError(`folder ${folder}`, 'directory', cause, remedy);
  }
}

/** Resolves once the signer has stopped; rejects where it could not start, or has failed. */
export async function runSigner(config: Config): Promise<void> {
  const place = signerPlace(config);
  if (place === undefined) {
    throw new CliError(
      'name the place of the signer: signer.socket, or signer.host with signer.tls',
    );
  }
  const log = openLog(config, '.signer');
  process.on('SIGHUP', () => log.reopen());
  // Each signature has its line, whatever else is logged.
  if (log.level() === 'warn' || log.level() === 'error') log.setLevel('info');
  changeLevelBySignal(log);
  const stops = stopRequests(log, { service: 'signer' });
  const started = new Disposal();
  try {
    const { signer, scheme } = await openSigner(config, { log, started });
    const frameBytesMax = blockBytesMax(config.miner.maxBlockSizeInBytes) + QUESTION_BYTES_MAX;
    const onFailure = (cause: unknown) => stops.request(failureOf(cause));
    const ports = { scheme, clock: systemClock(undefined), log, signer, onFailure };
    const listener = await listenSigner(
      place,
      (line) => new SignerConnection(line, frameBytesMax, ports),
    ).catch((cause) => {
      const remedy = 'choose a free place, or end the process that has it';
      const key = 'socket' in place ? 'signer.socket' : 'signer.host';
      throw new StartError('signer', key, cause, remedy);
    });
    started.add('listener', () => listener.close());
    const where =
      'socket' in place ? { socket: place.socket } : { host: place.host, port: listener.port };
    log.info('signer.listening', where);
    const cause = await stops.requested;
    stops.expectEnd(EXIT.failure);
    if (cause !== undefined) throw cause;
  } finally {
    await started.dispose();
    stops.release();
    log.info('signer.stopped');
    await log.close();
  }
}

const failureOf = (cause: unknown): Error => {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new CliError(`the signer cannot note what it signs, so it ends: ${why}`);
};

interface Opening {
  readonly log: ReturnType<typeof openLog>;
  readonly started: Disposal;
}

async function openSigner(config: Config, { log, started }: Opening) {
  const { scheme } = cryptographyOfConfig(config);
  const genesis = genesisBlock(config);
  const lock = await lockSigner(config);
  started.add('lock', () => lock.release());
  const keystore = await openNodeWallet(config, log);
  started.add('keystore', () => keystore.close());
  const address = scheme.addressFromText(config.ownerAddress);
  const account = keystore.accounts().find((one) => equal(one.address, address));
  if (account === undefined) {
    throw new CliError(
      `Node owner address '${config.ownerAddress}' does not exist in the keystore`,
    );
  }
  const password = account.password ? await ownerPassword() : undefined;
  // A wrong password shows now.
  (await keystore.privateKey(address, password)).fill(0);
  const owner = { address, publicKey: account.publicKey };
  const notesOf = { genesis: headerHash(genesis.header, scheme), voter: owner.publicKey };
  const signer = new Signer(
    {
      genesis: notesOf.genesis,
      consensus: consensusHash(networkSettings(config), scheme.fastHash),
      owner,
      types: new Set(config.signer.types),
    },
    openNotes(config, notesOf, scheme),
    {
      scheme,
      clock: systemClock(undefined),
      log,
      consensus: consensusOf(config, genesis.header.timestamp, scheme),
      readStatus: (signed) =>
        decodeRecord(concat(signed, new Uint8Array(SIGNATURE_BYTES)), scheme).senderPublicKey,
      keys: {
        publicKeys: () => keystore.accounts().map(({ publicKey }) => publicKey),
        publicKey: (of) => keystore.publicKey(of),
        sign: (of, given, message) =>
          // The node does not know the password of its owner: who starts the signer gives it.
          keystore.sign(of, given ?? (equal(of, address) ? password : undefined), message),
      },
    },
  );
  return { signer, scheme };
}

/** Throws StartError where one is damaged. */
function openNotes(config: Config, owner: NoteOwner, scheme: ChainScheme) {
  const [blockPath, votePath] = [blockNotePath(config), voteNotePath(config)];
  const [blockDisk, voteDisk] = [noteDisk(files, blockPath), noteDisk(files, votePath)];
  return {
    blocks: readBlockNote(blockDisk, blockPath, owner, scheme),
    votes: readNote(voteDisk, votePath, owner, scheme),
    blockDisk,
    voteDisk,
  };
}
