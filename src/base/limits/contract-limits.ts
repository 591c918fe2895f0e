/**
 * The limits of reads, of the gRPC interface, of containers and of images of contracts, each once,
 * with the words in which docs/protocol/contracts.md states it.
 */
import { KIB, MIB } from './budget.ts';

export interface ContractLimit {
  readonly value: number;
  readonly unit: 'bytes' | 'ms' | '';
  readonly meaning: string;
}

export const limit = (
  value: number,
  unit: ContractLimit['unit'],
  meaning: string,
): ContractLimit => ({
  value,
  unit,
  meaning,
});

const ROWS = 10_000;
const FIELDS = 65_536;
const CONTAINERS = 32;
const CONNECTIONS = 16;
const STRANGERS = 64;

export const contractLimits = {
  rows: limit(ROWS, '', 'rows that one execution reads; empty ranges, keys and ids count as rows'),
  readBytes: limit(8 * MIB, 'bytes', 'keys and values that one execution reads'),
  ranges: limit(2000, '', 'different ranges of keys that one execution reads'),
  requests: limit(20_000, '', 'requests of one execution'),
  pattern: limit(500, '', 'characters of `matches`'),
  patternWritten: limit(50_000, '', 'the same with all counted repetitions written out'),
  patternSize: limit(1000, '', 'instructions of the compiled `matches`'),
  patternWork: limit(
    200_000_000,
    '',
    'characters of keys, times the size of `matches`, of a request',
  ),
  clientWork: limit(
    10_000_000,
    '',
    'the same of one execution or client in a second, and 500 for each key; at once, that of a request',
  ),
  patternTime: limit(2000, 'ms', 'for a hundred keys to be matched'),
  patternsWaiting: limit(64, '', 'requests with `matches` that wait, and such lists of keys'),
  patternsWaitingOfOne: limit(8, '', 'of them those of one execution or client'),

  message: limit(4 * MIB, 'bytes', 'one message of a container'),
  results: limit(MIB, 'bytes', 'a message with results'),
  connect: limit(KIB, 'bytes', 'the message of Connect'),
  fields: limit(
    FIELDS,
    '',
    'fields of a message, so also its results, of which a 105 holds 32,767',
  ),
  resultFields: limit(3 * FIELDS + 1, '', 'fields of results with those of their entries'),
  requestFields: limit(2 * ROWS + 16, '', 'fields of another message, at every depth'),
  arriving: limit(8 * MIB, 'bytes', 'unfinished messages of a container together'),
  piece: limit(256, 'bytes', 'least bytes that a piece of an unfinished message counts'),
  messageTime: limit(10_000, 'ms', 'time for a message to arrive, and for an answer to be read'),
  leaving: limit(16 * MIB, 'bytes', 'answers that a container has not read, together'),
  headers: limit(8 * KIB, 'bytes', 'headers of a request'),
  streams: limit(64, '', 'streams of a connection'),
  connections: limit(CONNECTIONS, '', 'connections of a container'),
  tcpConnections: limit(
    CONTAINERS * (CONNECTIONS + STRANGERS),
    '',
    'connections of all containers over TCP',
  ),
  strangers: limit(STRANGERS, '', 'connections of an address without a token, over TCP'),
  strangersInAll: limit(
    4 * STRANGERS,
    '',
    'connections without a token of all addresses outside the networks of containers; the address with the most gives one up',
  ),
  strangerTime: limit(20_000, 'ms', 'time for such a connection to show a token'),
  strangerRefusals: limit(20, '', 'wrong tokens on such a connection'),
  refusals: limit(
    200,
    '',
    'requests of a container that are malformed or have no right; more end it',
  ),
  newConnections: limit(64, '', 'new connections of a container in an interval; more end it'),
  received: limit(16 * MIB, 'bytes', 'what a container sends in an interval; more end it'),
  interval: limit(500, 'ms', 'length of such an interval'),
  sessionMemory: limit(8 * MIB, 'bytes', 'what HTTP/2 itself holds for a connection'),
  headerPairs: limit(64, '', 'headers of a request, by number'),
  invalidFrames: limit(50, '', 'broken frames of a connection'),
  notHttp2: limit(5_000, 'ms', 'time for a connection to speak HTTP/2'),

  variable: limit(131_071, 'bytes', 'a variable of a script, with its name'),
  output: limit(MIB, 'bytes', 'output of a script, both streams; more fails the call'),
  outputEnd: limit(16 * MIB, 'bytes', 'the same; more ends the container'),
  crowded: limit(
    4,
    '',
    'part of the processes of a container that a script may need: one of so many',
  ),

  scratch: limit(16 * MIB, 'bytes', '`/tmp`, `/dev/shm` and each volume of an image, in memory'),
  volumes: limit(16, '', 'volumes of an image'),
  openFiles: limit(1024, '', 'open files of a process in a container'),
  engineLog: limit(MIB, 'bytes', "output of a container in the engine's log"),

  containers: limit(CONTAINERS, '', 'containers, including those that are being removed'),
  memoryShare: limit(2, '', 'all containers together get the memory of the machine divided by'),
  perProcessor: limit(
    8,
    '',
    'processors that all containers together may have, for each processor of the machine',
  ),
  cpuShares: limit(
    1024,
    '',
    'weight of all containers together, where a group of other processes has 1,024',
  ),
  stay: limit(
    10_000,
    'ms',
    'time that a container runs before it gives way to another one of its creator',
  ),
  perStart: limit(2, '', 'containers that start at a time: one for each of so many processors'),
  startTurn: limit(2_000, 'ms', 'time after which the next one starts beside a slow one'),
  startPause: limit(1_000, 'ms', 'pause after a failed start; then twice as long each time'),
  startPauseMax: limit(60_000, 'ms', 'the longest such pause'),
  kept: limit(10, '', 'containers that have failed and are kept for a look'),

  images: limit(1000, '', 'images that are known to be asked for, with what went wrong'),
  searches: limit(16, '', 'images that the engine is asked for at a time, creators in turn'),
  pulls: limit(2, '', 'pulls of images at a time; of one creator, 1'),
  pullBusy: limit(500, 'ms', 'pause before an image asks again for which too many wait'),
  pullsWaiting: limit(256, '', 'pulls that wait'),
  pullsWaitingOfOne: limit(4, '', 'pulls of one creator that wait'),
  layers: limit(127, '', 'layers of an image'),
  manifest: limit(MIB, 'bytes', 'a manifest of an image, and its configuration'),
  manifests: limit(8, '', 'manifests for one platform in an index'),
  registryTime: limit(10_000, 'ms', 'time for an answer of a registry to arrive'),
  registryToken: limit(64 * KIB, 'bytes', 'an answer of a registry with a token'),
  pullParts: limit(1000, '', 'layers of a pull on which the engine reports'),
  pullLine: limit(64 * KIB, 'bytes', 'a line of such a report'),
  growth: limit(2, '', "growth of the engine's disk in a pull, as a multiple of `image-size-max`"),
  growthFiles: limit(500_000, '', 'new files on that disk in a pull'),
  filesShare: limit(20, '', 'part of the files of that disk that pulls leave free: one of so many'),
  diskFree: limit(1024 * MIB, 'bytes', 'space on that disk that pulls leave free'),
  pulledImages: limit(1000, '', 'images that a node has fetched and keeps'),
} as const;
