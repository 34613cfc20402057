// Checks a bundle without any of our code: npm's `canonicalize` for RFC 8785, node's crypto for
// Ed25519. Usage: node canonical.mjs BUNDLE [FILE FOR THE CANONICAL BYTES]
import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const loaded = createRequire(process.cwd() + "/")("canonicalize");
const canonicalize = loaded.default ?? loaded;
const { signature, ...unsigned } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const bytes = Buffer.from(canonicalize(unsigned), "utf8");
if (process.argv[3]) writeFileSync(process.argv[3], bytes);
const raw = Buffer.from(signature.public_key, "base64");
const prefix = Buffer.from("302a300506032b6570032100", "hex");
const key = createPublicKey({ key: Buffer.concat([prefix, raw]), format: "der", type: "spki" });
const fingerprint = "SHA256:" + createHash("sha256").update(raw).digest("base64").replace(/=+$/, "");
const good = verify(null, bytes, key, Buffer.from(signature.value, "base64"));
process.stdout.write(JSON.stringify({ good, fingerprint, key_id: signature.key_id }) + "\n");
