// SPDX-License-Identifier: BSD-2-Clause
// Validates the Kubernetes objects on standard input (a JSON array) against the schemas of
// kubernetes-models and @kubernetes-models/prometheus-operator in the folder node_modules that is
// its argument.
import fs from "node:fs";
import path from "node:path";

async function model(object) {
  const [group, version] = object.apiVersion.includes("/")
    ? object.apiVersion.split("/") : ["", object.apiVersion];
  const models = group === "monitoring.coreos.com"
    ? "@kubernetes-models/prometheus-operator" : "kubernetes-models";
  const file = path.join(process.argv[2], models, group, version, `${object.kind}.js`);
  const found = await import(file);
  return found[object.kind] ?? found.default[object.kind];
}

const objects = JSON.parse(fs.readFileSync(0, "utf8"));
let failed = 0;
for (const object of objects) {
  try {
    const Model = await model(object);
    new Model(object).validate();
  } catch (error) {
    failed++;
    console.log(`${object.kind} ${object.metadata.name}: ${error.message}`);
  }
}
console.log(`${objects.length} objects, ${failed} wrong`);
process.exit(failed ? 1 : 0);
