/**
 * Defines the JSON Schemas that validate the requests of RunSql and ExplainSql and the response of
 * ExplainSql; RunSql answers with Arrow data. ../table-insight.ts has their TypeScript types and
 * documents the members.
 */

import { request, response } from './common.ts';
import { array, string } from './model-schema.ts';

const members = { id: array(string), incarnation: string };
export const RunSqlRequest = request({ sql: string }, members);
export const ExplainSqlRequest = request({ sql: string }, members);
export const ExplainSqlResponse = response({ plan: string });
