# The certificates of one cluster, all of one authority of its own. To be sourced; needs $folder and $api_port.

# certificate NAME SUBJECT [subjectAltName]: $folder/NAME.crt and NAME.key. The authority is the one named ca.
certificate() {
  local name=$1 subject=$2 names=${3:-} is_ca=FALSE
  local signer=(-CA "$folder/ca.crt" -CAkey "$folder/ca.key")
  [[ $name != ca ]] || { is_ca=TRUE; signer=(); }
  openssl req -x509 -config <(printf '[req]\ndistinguished_name=dn\n[dn]\n') -subj "$subject" -days 30 \
    -addext "basicConstraints=critical,CA:$is_ca" ${names:+-addext "subjectAltName=$names"} "${signer[@]}" \
    -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -keyout "$folder/$name.key" -out "$folder/$name.crt" \
    2>"$folder/openssl.log" || { cat "$folder/openssl.log" >&2; return 1; }
}

# user NAME SUBJECT [ADDRESS]: a certificate by which the API server, which NAME reaches at ADDRESS, knows its user (CN)
# and groups (O); and NAME.kubeconfig with it.
user() {
  local name=$1 address=${3:-127.0.0.1}
  certificate "$name" "$2"
  cat >"$folder/$name.kubeconfig" <<YAML
apiVersion: v1
kind: Config
current-context: podere
contexts: [{name: podere, context: {cluster: podere, user: $name}}]
clusters:
- name: podere
  cluster:
    server: https://$address:$api_port
    certificate-authority-data: $(base64 -w 0 "$folder/ca.crt")
users:
- name: $name
  user:
    client-certificate-data: $(base64 -w 0 "$folder/$name.crt")
    client-key-data: $(base64 -w 0 "$folder/$name.key")
YAML
  chmod 600 "$folder/$name.kubeconfig"
}
