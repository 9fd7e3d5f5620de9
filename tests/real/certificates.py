"""Certificates for tests, made by the openssl command: PEM files in a folder."""

import processes


class Certificates:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def path(self, name):
        return str(self.folder / name)

    def _openssl(self, *arguments):
        processes.run(["openssl", *arguments])

    def _new_key(self, name):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.path(f"{name}.key")]

    def self_signed(self, name):
        """NAME.pem and NAME.key, good for two days."""
        subject = ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"]
        self._openssl("req", "-x509", *self._new_key(name), "-out", self.path(f"{name}.pem"), "-days", "2", *subject)

    def expired(self, name):
        """NAME.pem and NAME.key of which the certificate was good until 2020-01-02."""
        database = self.folder / f"{name}.index"
        database.touch()
        config = self.folder / f"{name}.cnf"
        config.write_text(
            f"[ca]\ndefault_ca=d\n[d]\ndatabase={database}\nserial={self.path(name + '.serial')}\n"
            f"new_certs_dir={self.folder}\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n"
        )
        self._openssl("req", *self._new_key(name), "-new", "-out", self.path(f"{name}.csr"), "-subj", f"/CN={name}")
        times = ["-startdate", "20200101000000Z", "-enddate", "20200102000000Z"]
        files = ["-keyfile", self.path(f"{name}.key"), "-in", self.path(f"{name}.csr")]
        sign = ["ca", "-batch", "-selfsign", "-config", str(config), "-create_serial", *files, *times]
        self._openssl(*sign, "-out", self.path(f"{name}.pem"))

    def with_authority(self, names="IP:127.0.0.1"):
        """An authority (ca.pem), and a certificate of it for replicas and clients (own.pem, own.key); both for two days."""
        self._openssl("req", "-x509", *self._new_key("ca"), "-out", self.path("ca.pem"), "-days", "2", "-subj", "/CN=ca")
        subject = ["-subj", "/CN=own", "-addext", f"subjectAltName={names}"]
        self._openssl("req", *self._new_key("own"), "-out", self.path("own.csr"), *subject)
        signed = ["-CA", self.path("ca.pem"), "-CAkey", self.path("ca.key"), "-CAcreateserial", "-copy_extensions", "copy"]
        self._openssl("x509", "-req", "-in", self.path("own.csr"), *signed, "-days", "2", "-out", self.path("own.pem"))


def make(folder):
    Certificates(folder).with_authority()
