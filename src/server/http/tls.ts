/**
 * `readCertificate` reads the certificate and key of a server from PEM files. It throws
 * InvalidInput if a file cannot be read or the two do not belong together. node-http.ts serves with
 * them.
 */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { DirspaceError } from '../../errors.ts';
import { object, text } from '../settings/index.ts';

/** Paths of files in PEM form. */
export interface TlsFiles {
  /** The certificate, and those that it is signed by. */
  readonly certFile: string;
  /** The private key, without a passphrase. */
  readonly keyFile: string;
}

export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** @throws InvalidInput that names the file, or says that the two do not belong together */
export function readCertificate(files: TlsFiles): Certificate {
  object(files, 'tls', ['certFile', 'keyFile']);
  const certFile = text(files.certFile, 'tls.certFile');
  const keyFile = text(files.keyFile, 'tls.keyFile');
  const cert = read(certFile, 'tls.certFile');
  const key = read(keyFile, 'tls.keyFile');
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    throw new DirspaceError(
      'InvalidInput',
      `The certificate ${certFile} and the key ${keyFile} cannot be used: ${(cause as Error).message}.`,
      { cause },
    );
  }
  return { cert, key };
}

function read(file: string, member: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new DirspaceError('InvalidInput', `${member}: ${file} cannot be read.`, { cause });
  }
}
