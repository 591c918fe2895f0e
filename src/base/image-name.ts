/**
 * Names of images as a 103 carries them, [registry/]path[:tag][@digest], and patterns of them. The
 * grammar is that of container engines: a first part with a dot or a colon, or `localhost`, is the
 * domain of a registry. What an engine could read as an id or as several images is no name.
 */
export interface ImageName {
  /** Domain with its port, in lower case. */
  readonly registry: string;
  /** The place of the image in the registry. */
  readonly path: string;
  /** A tag, or a digest with its algorithm. */
  readonly tag: string;
  readonly isDigest: boolean;
  /** As the engine finds the image. */
  readonly full: string;
}

/** The registry of names without one, unless the settings name another. */
export const DEFAULT_REGISTRY = 'docker.io';

const DEFAULT_TAG = 'latest';
const OFFICIAL = 'library/';
const LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const DOMAIN = new RegExp(
  `^(?:${LABEL}(?:\\.${LABEL})*|\\[[0-9a-fA-F:.]+\\])(?::([1-9]\\d{0,4}))?$`,
);
const PART = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/;
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** An engine takes it for the id of an image. */
const ID = /^(?:sha256:)?[0-9a-f]{64}$/;

/** Undefined where no engine takes the text for the name of one image. */
export function parseImageName(text: string, defaultRegistry?: string): ImageName | undefined {
  const { domain, registry, base, path, tag, digest } = split(text, defaultRegistry);
  const [, port = '1'] = DOMAIN.exec(domain) ?? [];
  const isGood =
    !ID.test(text) &&
    DOMAIN.test(domain) &&
    Number(port) <= 65535 &&
    path.split('/').every((part) => PART.test(part)) &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest));
  if (!isGood) return undefined;
  const last = digest ?? tag ?? DEFAULT_TAG;
  const isDigest = digest !== undefined;
  const full = `${base}${isDigest ? '@' : ':'}${last}`;
  return { registry, path, tag: last, isDigest, full };
}

/** True where `listed`, a name that the engine gives, means this image. */
export function isNameOf(name: ImageName, listed: string): boolean {
  const other = parseImageName(listed);
  return (
    other !== undefined &&
    other.registry === name.registry &&
    other.path === name.path &&
    other.tag === name.tag
  );
}

/** Domains of registries are equal in every case, and one of them has two names. */
export function registryOf(domain: string): string {
  const lower = domain.toLowerCase();
  return lower === 'index.docker.io' ? DEFAULT_REGISTRY : lower;
}

/** True for the domain of a registry, with or without a port. */
export const isRegistry = (text: string): boolean => DOMAIN.test(text);

/** Says of a name whether a pattern matches it. */
export type ImagePattern = (name: ImageName) => boolean;

/**
 * A name in which `*` stands for any characters of one part: of a label of the domain, or between two
 * slashes. Without a tag it matches every tag and digest. Undefined where it can match no name.
 */
export function imagePattern(text: string, defaultRegistry?: string): ImagePattern | undefined {
  if (parseImageName(text.replaceAll('*', 'x'), defaultRegistry) === undefined) return undefined;
  const { registry, path, tag, digest } = split(text, defaultRegistry);
  const registries = matcher(registry, '[^.:]*');
  const paths = matcher(path, '[^/]*');
  const last = digest ?? tag;
  const tags = last === undefined ? undefined : matcher(last, '[^:]*');
  return (name) =>
    registries.test(name.registry) &&
    paths.test(name.path) &&
    (tags === undefined || (tags.test(name.tag) && name.isDigest === (digest !== undefined)));
}

const matcher = (text: string, star: string): RegExp =>
  new RegExp(`^${text.split('*').map(escaped).join(star)}$`);

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

/** Divides a text without a look at its characters. */
function split(text: string, defaultRegistry: string | undefined) {
  const at = text.indexOf('@');
  const digest = at < 0 ? undefined : text.slice(at + 1);
  const tagged = at < 0 ? text : text.slice(0, at);
  const slash = tagged.indexOf('/');
  const first = slash < 0 ? '' : tagged.slice(0, slash);
  const hasDomain = /[.:]/.test(first) || first === 'localhost';
  const rest = hasDomain ? tagged.slice(slash + 1) : tagged;
  const colon = rest.indexOf(':');
  const named = colon < 0 ? rest : rest.slice(0, colon);
  const tag = colon < 0 ? undefined : rest.slice(colon + 1);
  const own = hasDomain ? first : defaultRegistry;
  const base = own === undefined ? named : `${own}/${named}`;
  const domain = own ?? DEFAULT_REGISTRY;
  const registry = registryOf(domain);
  const isOfficial = registry === DEFAULT_REGISTRY && !named.includes('/');
  return { domain, registry, base, path: isOfficial ? OFFICIAL + named : named, tag, digest };
}
